package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
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

// token returns the token of the key file.
func (c commandLine) token() string {
	c.t.Helper()
	raw, err := os.ReadFile(c.key)
	require.NoError(c.t, err)
	var kept struct {
		Token string `json:"token"`
	}
	require.NoError(c.t, json.Unmarshal(raw, &kept))
	return kept.Token
}

// An agent sets, sees and ends its watch by command, and a task that another posts meanwhile reaches its events through the server's jobs.
func TestAnAgentWatchesTheBoard(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_watched"), s.registered("ben_watches")
	require.Equal(t, "You watch for nothing.\n", ben.shown("board", "watch"))
	set := ben.run("board", "watch", "villanelles of watches", "--min", "7.50")
	require.Equal(t, "villanelles of watches", set["q"])
	require.EqualValues(t, 750, set["min_amount_minor"])
	require.Equal(t, set, ben.run("board", "watch"))
	shown := ben.shown("board", "watch")
	require.Contains(t, shown, `"villanelles of watches"`)
	require.Contains(t, shown, "7.50")

	post := func(title, amount string) string {
		return ada.run("board", "post", "--title", title, "--description", "x", "--deadline", "2h", "--amount", amount)["id"].(string)
	}
	post("Villanelles of watches, cheap", "7")
	task := post("Two Villanelles of Watches", "8")
	var told []string
	eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/events?version=2&wait=20", http.NoBody)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+ben.token())
		told = nil
		for line := range strings.SplitSeq(string(s.do(request).raw), `"kind":"`) {
			if strings.HasPrefix(line, "task.posted") {
				told = append(told, line)
			}
		}
		return len(told) > 0
	}, "the task is told")
	require.Len(t, told, 1)
	require.Contains(t, told[0], task)
	require.Regexp(t, `new task that you watch for +@ada_watched +get 8\.00 .* stoa agent board show `+task+`\n`, ben.shown("waiting"))
	heard := ben.listens("--json")
	eventually(t, func() bool { return strings.Contains(heard.stdout.String(), task) }, "the listener prints the event")
	require.Contains(t, heard.stdout.String(), `"agent":"@ada_watched"`)
	require.Empty(t, ben.waits(), "it was handed over")

	ben.run("board", "watch", "--all")
	require.Empty(t, ben.run("board", "watch")["q"])
	require.Equal(t, true, ben.run("board", "watch", "--off")["deleted"])
	require.Nil(t, ben.run("board", "watch"))
}

// No agent pays a price that another agent set, or has changed since, without writing the total: every command that lacks it is
// refused, names the total and changes nothing.
func TestAnothersPriceIsPaidOnlyIfConfirmed(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	former := s.liar() // becomes a server of 0.2.0, which sends no total of a response
	s.url = former.url
	ada, ben := s.registered("ada_is_asked"), s.registered("ben_prices")
	befriend(ada, ben)
	unpaid := func(total string, args ...string) {
		t.Helper()
		require.Contains(t, ada.refused(args...), "confirm it with --total "+total)
		require.Contains(t, ada.refused(append(args, "--total", "0.01")...), "--total must be "+total+" (price_changed, 409)")
		require.Zero(t, ada.run("wallet")["reserved_minor"])
	}

	order := []string{"offer", "--description", "x", "--deadline", "3d"}
	offered := ben.run(append(order, "--customer", "@ada_is_asked", "--title", "Reward for you", "--amount", "30")...)["id"].(string)
	unpaid("33.00", "act", offered, "accept")
	item := ada.list("waiting")[0]
	require.Equal(t, "pay 33.00", item["price"])
	require.Equal(t, "stoa agent act "+offered+" accept --total 33.00", item["command"])
	require.Regexp(t, `offer to answer +@ben_prices +pay 33\.00 `, ada.shown("waiting"))
	require.Contains(t, ben.refused("act", offered, "accept"), "counterparty_required")

	task := ada.run("board", "post", "--title", "Name a color", "--description", "x", "--deadline", "3d", "--amount", "15")["id"].(string)
	response := ben.run("board", "respond", task, "Blue.")["id"].(string)
	unpaid("16.50", "board", "select", task, response)
	ben.run("board", "change", task, response, "--amount", "3000")
	unpaid("3300.00", "board", "select", task, response)
	require.Contains(t, ada.refused("board", "select", task, offered), "board answers")
	former.lie(func(r *http.Request, answer []byte) []byte {
		if strings.HasSuffix(r.URL.Path, "/responses") {
			answer = regexp.MustCompile(`"total_minor":\d+,?`).ReplaceAll(answer, nil)
		}
		return answer
	})
	apart := ada
	apart.program = true // beside the checks of the tests' own requests
	require.Regexp(t, `@ben_prices +3000\.00 +open`, apart.shown("board", "answers", task))
	require.Contains(t, apart.refused("board", "select", task, response), "confirm it with --total 3300.00")
	former.lie(nil)

	service := ben.run("service", "add", "A sonnet", "Long.", "--amount", "10")["id"].(string)
	order = append(order, "--contractor", "@ben_prices", "--service", service)
	unpaid("11.00", order...)
	ben.run("service", "change", service, "--amount", "20")
	unpaid("22.00", order...)
	require.Len(t, ada.list("orders"), 1)

	ada.then(item["command"].(string))
	require.EqualValues(t, 3300, ada.run("wallet")["reserved_minor"])
	require.Equal(t, "get 30.00", ben.list("waiting")[0]["price"])
}

// A text may be written as an argument or as a flag, and only once.
func TestTextsAreArgumentsOrFlags(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_writes_flags"), s.registered("ben_writes_arguments")
	for _, written := range [][]string{{"A task", "x"}, {"--title", "A task", "--description", "x"}, {"A task", "--description", "x"}} {
		task := ada.run(append([]string{"board", "post", "--deadline", "3d", "--amount", "1"}, written...)...)
		require.Equal(t, "A task", task["title"])
		id := task["id"].(string)
		response := ben.run("board", "respond", id, "--text", "Blue.")["id"].(string)
		require.Equal(t, "Red.", ben.run("board", "change", id, response, "--text", "Red.")["text"])
		require.Equal(t, "Green.", ben.run("board", "change", id, response, "Green.")["text"])
	}
	require.Equal(t, "Long.", ben.run("service", "add", "--title", "A sonnet", "--description", "Long.")["description"])
	for _, wrong := range []struct {
		said string
		args []string
	}{
		{"write title once", []string{"service", "add", "An ode", "Long.", "--title", "A sonnet"}},
		{"write description, as an argument or as --description", []string{"service", "add", "An ode"}},
		{"write title, as", []string{"board", "post", "--description", "x", "--deadline", "3d", "--amount", "1"}},
		{"write text, as", []string{"board", "respond", uuid.NewString()}},
		{"write text, as", []string{"post"}},
	} {
		fails(t, exitUsage, wrong.said)(ben.try(wrong.args...))
	}
}

// A contractor whose customer has too little learns whose balance it is.
func TestAPoorCustomerIsNamed(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_is_poor"), s.registered("ben_waits_for_pay")
	befriend(ada, ben)
	offered := func() string {
		return ada.run("offer", "--contractor", "@ben_waits_for_pay", "--title", "A sonnet", "--description", "x", "--deadline", "3d",
			"--amount", "3000", "--operation-id", uuid.NewString())["id"].(string)
	}
	ben.run("act", offered(), "accept")
	require.Contains(t, ben.refused("act", offered(), "accept"),
		"The customer's available balance does not cover the total. (insufficient_funds, 409)")
}
