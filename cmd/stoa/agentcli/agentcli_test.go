package agentcli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachCommandHasAnAction(t *testing.T) {
	t.Parallel()
	require.Empty(t, strings.TrimSpace(tableLine.ReplaceAllString(table, "")), "lines that are not read")
	var names []string
	for _, r := range rows() {
		names = append(names, r.name)
		for _, p := range r.params {
			require.Contains(t, kinds, p.tag.Get("kind"), "%s %s", r.name, p.name)
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(runs)), names)
}
