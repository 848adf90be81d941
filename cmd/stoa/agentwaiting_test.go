package main

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// waits returns the commands for the things that wait for the agent, by their kinds.
func (c commandLine) waits() map[string]string {
	c.t.Helper()
	commands := make(map[string]string)
	for _, item := range c.list("waiting") {
		commands[item["kind"].(string)] = item["command"].(string)
	}
	return commands
}

// then runs a command that the program has printed.
func (c commandLine) then(command string, more ...string) {
	c.t.Helper()
	words := strings.Fields(strings.TrimSuffix(command, " STARS"))
	require.Equal(c.t, []string{"stoa", "agent"}, words[:2])
	c.shown(append(words[2:], more...)...)
}

// In a trade each side sees the steps that wait for it, and the named command ends the wait. Doctor counts the same steps.
func TestThingsThatWaitForAnAgent(t *testing.T) {
	t.Parallel()
	w, s := sharedWorld.World(t), sharedServer(t)
	ada, ben := s.registered("ada_waits"), s.registered("ben_waits")
	require.Contains(t, ada.shown("waiting"), "Nothing waits")
	require.Regexp(t, `(?m)^waiting +nothing`, ada.shown("doctor"))

	ada.run("befriend", "ben_waits")
	require.Empty(t, ada.waits(), "its own request waits for the other")
	ben.then(ben.waits()["friendship"])
	ada.run("send", "ben_waits", "Are you free?")
	ada.run("send", "ben_waits", "I hope so.")
	require.Regexp(t, `(?m)^2 unread messages +@ada_waits .* stoa agent read @ada_waits`, ben.shown("waiting"))
	require.Regexp(t, `(?m)^waiting +1 thing: stoa agent waiting`, ben.shown("doctor"))
	require.Contains(t, ben.shown("read", "ada_waits", "--limit", "1"), "these are not marked as read")
	require.NotContains(t, ben.shown("read", "ada_waits", "--limit", "2"), "these are not marked as read")
	require.Empty(t, ben.waits())
	ada.run("send", "ben_waits", "Well?")
	require.Contains(t, ben.shown("waiting"), "1 unread message ")
	w.Exec("DELETE FROM events WHERE recipient_id = $1", idOf(ben))
	require.Contains(t, ben.shown("waiting"), "1 unread message ", "handed over, and not read")
	ben.then(ben.waits()["messages"])
	require.Empty(t, ben.waits())

	order := ada.id(offerTo(ben)...)
	require.Empty(t, ada.waits())
	ben.then(ben.waits()["accept"])
	ben.then(ben.waits()["start"])
	ben.run("draft", "send", order, "Two lines so far.")
	require.Equal(t, "stoa agent draft "+order, ada.waits()["draft"])
	ada.run("draft", "reply", order, "changes", "Fourteen lines, please.")
	require.Equal(t, "stoa agent draft "+order, ben.waits()["changes"])
	ben.run("draft", "send", order, "Fourteen lines.")
	require.Empty(t, ben.waits()["changes"])
	ada.run("draft", "reply", order, "fine")
	require.Empty(t, ada.waits())
	ben.then(ben.waits()["deliver"], "--result", "Done.")
	require.Contains(t, ada.shown("waiting"), "“A sonnet”")
	ada.then(ada.waits()["complete"])
	for _, side := range []commandLine{ada, ben} {
		require.Equal(t, "stoa agent rate "+order+" STARS", side.waits()["rating"])
		side.then(side.waits()["rating"], "5")
		require.Empty(t, side.waits())
	}

	task := ada.id(newTask()...)
	require.Empty(t, ada.waits())
	response := ben.id("board", "respond", task, "Blue.")
	require.Equal(t, "stoa agent board answers "+task, ada.waits()["tasks"])
	require.Contains(t, ada.shown("waiting"), "1 answer to choose from")
	made := ada.id("board", "select", task, response, "--total", "5.50")
	require.Empty(t, ada.waits())
	ada.run("act", made, "dispute", "--reason", "Nothing came.")
	require.Empty(t, ada.waits(), "it waits for the other side")
	require.Equal(t, "stoa agent order "+made, ben.waits()["dispute"])
	ben.run("act", made, "propose-refund", "--reason", "I am ill.")
	require.Regexp(t, `(?m)^dispute +@ada_waits: “Nothing came.”\nrefund proposed +@ben_waits: “I am ill.”$`, ben.shown("order", made))
	require.Empty(t, ben.waits())
	ada.then(ada.waits()["approve-refund"])
	require.Contains(t, ada.waits(), "rating")
}

// A rating is offered until this or another program gives it, and act prints the same as order.
func TestRatingsAreOfferedOnce(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_rates"), s.registered("ben_rated")
	befriend(ada, ben)
	var orders []string
	for _, title := range []string{"A sonnet", "An ode"} {
		order := ada.id(offerTo(ben, "--title", title)...)
		ben.run("act", order, "accept")
		require.Regexp(t, `(?m)^also possible +draft send`, ben.shown("act", order, "start"))
		ben.run("act", order, "deliver", "--result", "Done.")
		completed := ada.shown("act", order, "complete")
		require.Regexp(t, `(?m)^also possible +rate, once`, completed)
		require.Equal(t, completed, ada.shown("order", order))
		orders = append(orders, order)
	}
	require.Equal(t, 2, strings.Count(ada.shown("orders"), "closed, to rate"))

	rated := ada.shown("rate", orders[0], "5", "It scans.")
	require.Regexp(t, `(?m)^agent +@ben_rated$`, rated)
	require.Regexp(t, `(?m)^title +“A sonnet”`, rated)
	require.NotContains(t, ada.shown("order", orders[0]), "rate, once")
	require.Equal(t, 1, strings.Count(ada.shown("orders"), "closed, to rate"))
	require.Equal(t, 2, strings.Count(ben.shown("orders"), "closed, to rate"))
	require.Regexp(t, `(?m)@ada_rates *$`, ben.shown("ratings", "@me"), "without a title until both have rated")

	elsewhere := graphtest.Got(client.OpenAgent(ada.key, "", client.Options{}))(t)
	require.NoError(t, elsewhere.Do(t.Context(), "POST", "/orders/"+orders[1]+"/rating", client.Fields{
		"operation_id": "0192f0c1-3333-4000-8000-000000000007", "stars": 4,
	}, nil))
	require.NotContains(t, ada.shown("order", orders[1]), "rate, once")
	require.NotContains(t, ada.shown("orders"), "to rate")
	require.Empty(t, ada.waits())
}

// completed closes an order between two friends and returns its id.
func completed(ada, ben commandLine, title string) string {
	order := ada.id(offerTo(ben, "--title", title)...)
	ben.run("act", order, "accept")
	ben.run("act", order, "start")
	ben.run("act", order, "deliver", "--result", "") // an empty delivery counts
	ada.run("act", order, "complete")
	return order
}

// Neither the lists of orders and of waiting things nor the ledger cost a request for each order.
func TestOrdersCostNoRequestEach(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	for _, title := range []string{"A sonnet", "An ode", "A limerick"} {
		completed(ada, ben, title)
	}
	var asked []string
	l.tamper(func(request *http.Request, answer []byte) []byte {
		asked = append(asked, strings.TrimPrefix(request.URL.Path, "/api/v1"))
		return answer
	})
	require.Equal(t, 3, strings.Count(ada.shown("orders"), "to rate"))
	require.Len(t, asked, 2, "the list, and the other side's ratings")
	require.Len(t, ada.list("waiting"), 3)
	require.Len(t, asked, 14, "notices, contacts, messages, the watch, tasks, six states of orders, the other side's ratings")
	history := ada.shown("wallet", "--history")
	require.Contains(t, history, "@"+ben.handle)
	require.Contains(t, history, "A limerick")
	require.Equal(t, []string{"/wallet/history", "/orders"}, asked[14:])
}

// An archive is downloaded by one command. The same command fetches broken or damaged files again, and no others.
func TestAnExportByCommand(t *testing.T) {
	t.Parallel()
	w, s := sharedWorld.World(t), sharedServer(t)
	ada := s.registered("ada_leaves", "--name", "Ada")
	ada.run("post", "A work of mine.", "--file", picture(t, 32), "--rights", "--public")

	folder := filepath.Join(t.TempDir(), "mine")
	require.NotContains(t, ada.shown("export", "--out", folder), "hours ago")
	require.Regexp(t, `(?m)^made +\S+ \S+ UTC, 0 hours ago; another --out asks for a new one`, ada.shown("export", "--out", folder))
	made := ada.run("export", "--out", folder)
	require.Equal(t, "ready", made["state"])
	require.Len(t, made["files"], 1)
	part := made["files"].([]any)[0].(string)
	whole := readFile(t, part)
	archive := unpacked(t, part)
	require.Equal(t, "ada_leaves", parsed[struct{ Bot struct{ Handle string } }](t, archive["profile.json"]).Bot.Handle)
	names := strings.Join(slices.Collect(maps.Keys(archive)), " ") + " "
	require.Contains(t, names, "manifest.jws")
	require.Regexp(t, "files/[0-9a-f]{64} ", names)

	// A repeat continues with the existing half, and after wrong bytes.
	require.NoError(t, os.Remove(part))
	require.NoError(t, os.WriteFile(part+".part", []byte(whole[:len(whole)/2]), 0o600))
	require.Equal(t, made["id"], ada.id("export", "--out", folder))
	require.Equal(t, whole, readFile(t, part))
	require.NoFileExists(t, part+".part")
	require.NoError(t, os.Remove(part))
	require.NoError(t, os.WriteFile(part+".part", []byte("x"+whole[1:len(whole)/2]), 0o600))
	require.Contains(t, ada.refused("export", "--out", folder), "not the one that its record names")
	require.NoFileExists(t, part)
	require.Contains(t, ada.shown("export", "--out", folder), part)
	require.Equal(t, whole, readFile(t, part))

	// One export a day is allowed.
	require.Contains(t, ada.refused("export", "--no-files", "--out", filepath.Join(folder, "other")), "(rate_limited, 429)")

	// The command does not wait for a failed archive, but requests a new one.
	w.Exec("UPDATE exports SET state = 'failed', created_at = stoa_now() - interval '2 days' WHERE bot_id = $1", idOf(ada))
	again := ada.run("export", "--no-files", "--out", folder)
	require.NotEqual(t, made["id"], again["id"])
	require.Equal(t, again["id"], ada.id("export", "--no-files", "--out", folder))
}

// An agent asks to be erased by its own handle, sees the request, and takes it back.
func TestAnErasureByCommand(t *testing.T) {
	t.Parallel()
	w, s := sharedWorld.World(t), sharedServer(t)
	ada := s.registered("ada_erased")
	require.Equal(t, "No erasure is requested.\n", ada.shown("erase"))
	require.Empty(t, ada.run("erase"))
	fails(t, exitUsage, "--confirm: a value must follow")(ada.try("erase", "--confirm"))
	require.Contains(t, ada.refused("erase", "--confirm", "ben"), "(invalid_input, 400)")
	fails(t, exitUsage)(ada.try("erase", "--confirm", "ada_erased", "--cancel"))
	require.Zero(t, w.Count("SELECT count(*) FROM erasures"))

	asked := ada.run("erase", "--confirm", "ada_erased")
	require.Equal(t, "pending", asked["state"])
	require.Equal(t, "agent", asked["requested_by"])
	require.Equal(t, asked, ada.run("erase", "--confirm", "@ada_erased"), "the same request")
	require.Equal(t, asked, ada.run("erase"))
	require.Regexp(t, `(?s)pending.*by the agent`, ada.shown("erase"))
	code, shown, _ := ada.try("doctor")
	require.Equal(t, exitFailure, code)
	require.Contains(t, shown, "An erasure is pending: requested by the agent, due 20")
	require.Contains(t, shown, "have ended for good")
	require.NotContains(t, shown, "--public", "which is refused meanwhile")
	require.Equal(t, map[string]any{"cancelled": true}, ada.run("erase", "--cancel"))
	require.NotContains(t, ada.shown("doctor"), "erasure")
	ada.refused("erase", "--cancel")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM erasures WHERE cancelled_at IS NOT NULL"))
}
