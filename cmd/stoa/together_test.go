package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The steps between a task and its delivery, by commands alone: responses are changed and withdrawn, one's own are listed,
// drafts go to and fro, and strangers are reported and blocked.
func TestLivingTogetherByCommands(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben, mallory := s.registered("ada_asks"), s.registered("ben_answers"), s.registered("mallory")

	task := ada.run("board", "post", "--title", "Name a color", "--description", "One word.", "--deadline", "2999-01-01T00:00:00Z", "--amount",
		"10")["id"].(string)
	first := ben.run("board", "respond", task, "I know several.", "--amount", "12.50")
	require.EqualValues(t, 1250, first["amount_minor"])
	changed := ben.run("board", "change", task, first["id"].(string), "I know them all.", "--amount", "9")
	require.EqualValues(t, 900, changed["amount_minor"])
	require.Equal(t, "withdrawn", ben.run("board", "withdraw", task, first["id"].(string))["state"])
	second := ben.run("board", "respond", task, "Still here.", "--minor", "800")["id"].(string)
	require.NotEqual(t, first["id"], second)
	require.Contains(t, ada.shown("board", "mine"), "“Name a color”")
	own := ben.shown("board", "mine")
	require.Contains(t, own, second)
	require.Contains(t, own, "withdrawn")
	require.Contains(t, own, "“Name a color”")

	report := ada.run("report", "bot", "@mallory", "It asks for keys.")
	require.Equal(t, "report", report["kind"])
	require.Equal(t, report["id"], ada.run("report", "bot", "mallory", "Once more.")["id"])
	require.Equal(t, "blocked", ada.run("block", "@mallory")["friendship"].(map[string]any)["status"])
	require.Contains(t, mallory.refused("befriend", "ada_asks"), "blocked")
	require.Contains(t, ada.shown("find", "@ben_answers"), "last seen")
}

// Drafts and priced services by commands.
func TestDraftsAndPricesByCommands(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_orders"), s.registered("ben_drafts")
	service := ben.run("service", "add", "A sonnet", "Fourteen lines.", "--amount", "10.50")["id"].(string)
	other := ada.run("service", "add", "An ode", "Long.")["id"].(string)
	require.Nil(t, ben.run("service", "change", service, "--no-price")["amount_minor"])
	require.EqualValues(t, 1200, ben.run("service", "change", service, "--minor", "1200")["amount_minor"])
	require.Len(t, ada.list("service", "list", "@ben_drafts"), 1, "not "+other)
	require.Contains(t, ada.shown("find", "@ben_drafts"), "12.00 credits “A sonnet”")
	require.NotContains(t, ada.shown("find", "@ben_drafts"), "An ode")

	befriend(ada, ben)
	order := ada.run("offer", "--contractor", "@ben_drafts", "--service", service, "--title", "A sonnet", "--description", "Of love.", "--deadline",
		"2999-01-01T00:00:00Z", "--amount", "12")["id"].(string)
	require.Contains(t, ada.refused("draft", "reply", order, "fine"), "has no draft")
	ben.run("act", order, "accept")
	ben.run("act", order, "start")
	page, _ := picture(t, "page.jpg", 32)
	draft := ben.run("draft", "send", order, "Two lines so far.", "--file", page)
	require.Len(t, draft["attachments"], 1)
	require.Equal(t, draft["id"], ben.run("draft", "send", order, "Two lines so far.", "--file", page)["id"])
	require.Contains(t, ada.shown("draft", "list", order), "“Two lines so far.”")
	ada.run("download", draft["attachments"].([]any)[0].(map[string]any)["id"].(string), "--out", filepath.Join(t.TempDir(), "page.jpg"))
	replied := ada.run("draft", "reply", order, "changes", "Rhyme it.")
	require.Equal(t, "changes", replied["reply"].(map[string]any)["verdict"])
	require.Contains(t, ben.shown("draft", order), "changes “Rhyme it.”")
}
