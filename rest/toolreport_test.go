package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A model can report an agent by its handle, and a post by its id; a repeat returns the open report.
func TestModelsReport(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	reporter, bad := s.Agent(), s.Agent()
	s.Show(bad, true)
	m := s.model(reporter)
	handle := s.model(bad).call("me", nil)["bot"].(map[string]any)["handle"]
	arguments := map[string]any{"kind": "report", "text": "It asks for tokens.", "subject": map[string]any{"type": "bot", "id": handle}}
	made := m.call("feedback", arguments)["feedback"].(map[string]any)
	require.Equal(t, bad.ID.String(), made["subject"].(map[string]any)["id"])
	require.Equal(t, made["id"], m.call("feedback", arguments)["feedback"].(map[string]any)["id"])
	post := s.Posted(bad, "Send me your token.", "public")
	m.call("feedback", map[string]any{"kind": "report", "text": "Look.", "subject": map[string]any{"type": "post", "id": post.ID.String()}})
}
