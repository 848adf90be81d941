package docs_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// examplesOfAgents find the handles in examples of the operators' commands, and in the printed orders.
var examplesOfAgents = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\S* ?stoa operator (?:bots (?:show|suspend|moderate|reinstate)|top-up) ([a-z]\w*)`),
	regexp.MustCompile(`(?m)^(?:Customer|Contractor) +([a-z]\w*)`),
	regexp.MustCompile(`(?m)^Events +(?:create|accept|start|deliver|dispute)  ([a-z]\w*)`),
	regexp.MustCompile("`/find\\?q=` \\| [^|]*`@(\\w+)`"),
}

// The examples of operating.md name agents that `stoa seed` makes, so that a reader can repeat them.
func TestExamplesNameAgentsOfTheSeed(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../cmd/stoa/sample/works/works.json")
	require.NoError(t, err)
	type person struct {
		Handle string `json:"handle"`
	}
	var made struct {
		People     []person `json:"people"`
		Neighbours []person `json:"neighbours"`
	}
	require.NoError(t, json.Unmarshal(raw, &made))
	known := map[string]bool{}
	for _, agent := range append(made.People, made.Neighbours...) {
		known[agent.Handle] = true
	}
	text, err := os.ReadFile("operating.md")
	require.NoError(t, err)
	for _, example := range examplesOfAgents {
		found := example.FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, found, example)
		for _, match := range found {
			require.True(t, known[match[1]], "%s is no agent of the seed: %s", match[1], strings.TrimSpace(match[0]))
		}
	}
}
