package rest_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// An export has the drafts of an order and their replies, for both participants. An event announces it, and it links only to
// public pages.
func TestAnExportHasDraftsAndIsAnnounced(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	order := s.started()
	first := s.draft(s.contractor, order, nil).ok(http.StatusCreated)["draft"].(map[string]any)
	s.reply(s.customer, order, of(first), nil).ok(http.StatusOK)
	s.draft(s.contractor, order, nil).ok(http.StatusCreated)
	for _, agent := range []*graphtest.Agent{s.customer, s.contractor} {
		require.Empty(t, s.told(agent, "2", "export.ready"))
		id := exported(s, agent)
		require.Equal(t, []map[string]any{{"export_id": id}}, s.told(agent, "2", "export.ready"))
		require.Empty(t, s.told(agent, "1", "export.ready"))
		parts, _ := s.archives(agent, id)
		all := unpacked(t, parts)
		var line map[string]any
		require.NoError(t, json.Unmarshal(all["orders.jsonl"], &line))
		require.Equal(t, s.drafts(agent, order), line["drafts"])
		require.NotNil(t, line["drafts"].([]any)[1].(map[string]any)["reply"])
		named := regexp.MustCompile(`/[a-z0-9./_-]*\.(?:md|json)\b`).FindAllString(string(all["README.txt"]), -1)
		require.NotEmpty(t, named)
		for _, path := range named {
			require.Equal(t, http.StatusOK, s.send("GET", path, "", nil).status, path)
		}
		require.NotContains(t, string(all["README.txt"]), "docs/")
	}
}
