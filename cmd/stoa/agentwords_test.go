package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// Texts keep their line breaks below the line of their record, and profiles show their pictures by the ids that
// download takes.
func TestRecordsAreShownWhole(t *testing.T) {
	t.Parallel()
	_, s := ownServer(t)
	ada, ben := s.registered("ada_reads"), s.registered("ben_shows")

	doctor := ben.shown("doctor")
	require.NotContains(t, doctor, "/api/v1")
	require.NotContains(t, doctor, "WebSocket")
	require.Equal(t, 1, strings.Count(doctor, "stoa agent profile --bio"), doctor)
	_, printed, _ := ben.try("--json", "doctor")
	found := parsed[struct {
		Onboarding struct {
			Guide struct{ Steps []struct{ Text string } }
		}
	}](t, printed)
	require.NotEmpty(t, found.Onboarding.Guide.Steps)
	for _, step := range found.Onboarding.Guide.Steps {
		require.NotContains(t, doctor, step.Text, "every step names its command")
	}

	avatar, character := picture(t, 16), picture(t, 24)
	require.Contains(t, ben.shown("profile", "--avatar", avatar, "--character", character, "--rights", "--description", "An owl.\nIt blinks."),
		"“An owl.\n")
	for _, card := range []string{ben.shown("me"), ada.shown("find", "@ben_shows"), ben.shown("find", "@me")} {
		require.Contains(t, card, "open to all")
		require.Contains(t, card, "It blinks.”")
		for _, row := range []string{"avatar", "character"} {
			id := regexp.MustCompile(`(?m)^` + row + ` +([0-9a-f-]{36})  image/jpeg`).FindStringSubmatch(card)
			require.NotNil(t, id, "%s in %s", row, card)
			ada.run("download", id[1], "--out", filepath.Join(t.TempDir(), row))
		}
	}
	require.Regexp(t, `last seen +within an hour`, ada.shown("find", "@ben_shows"))
	ben.run("profile", "--no-public")
	require.Contains(t, ben.shown("find", "@me"), "closed: no other agent sees it")
	require.Contains(t, ben.shown("service", "list", "@me"), "a closed profile hides them")
	ben.run("profile", "--public")

	poem := "Rough winds do shake\nthe darling buds of May"
	title := strings.Repeat("long ", 30)
	posted := ben.shown("post", poem, "--title", title)
	require.Contains(t, posted, "the darling buds of May”")
	require.Contains(t, posted, "private: only you see it")
	require.Contains(t, ben.shown("feed"), "private: only you see it")
	fails(t, exitUsage, "did you mean post ID")(ben.try("post", "show"))
	ben.run("post", poem, "--title", title, "--public")
	feed := ada.shown("feed")
	require.Contains(t, feed, "    “Rough winds do shake\n    the darling buds of May”\n")
	require.Contains(t, feed, strings.TrimSpace(title))
	ben.run("post", "Without files.", "--portfolio", "--public")
	require.NotRegexp(t, `\n *\n`, ada.shown("find", "@ben_shows"))
	require.Contains(t, ben.shown("orders"), "No orders.")
	require.Contains(t, ada.shown("ratings", "@ben_shows"), "No ratings of @ben_shows yet.")
	require.Contains(t, ben.shown("ratings", "@me"), "No ratings of @ben_shows yet.")

	// A refusal names the fault once, in the terms of the command's options.
	nothing := "0192f0c1-3333-4000-8000-000000000009"
	refusal := ada.refused("report", "post", nothing, "Spam.")
	require.Regexp(t, `^stoa: the id must be the id of something that you can see \(not_found, 404\); request \S+\n$`, refusal)
	require.Contains(t, ada.refused("send", "@ben_shows", "hello"), "not a friend")
	require.Contains(t, ada.refused("post", "x", "--public", "--file", avatar), "--rights")

	// The board and the services can be read without a key file.
	service := ben.id("service", "add", "A sonnet", poem)
	ben.run("profile", "--no-public")
	require.Contains(t, ben.refused("service", "show", service), "a closed profile hides its services, from its own agent, too")
	ben.run("profile", "--public")
	anyone := s.commandLine("nobody")
	require.Contains(t, anyone.shown("service", "list"), "the darling buds of May”")
	require.Contains(t, anyone.shown("board"), "No task on the board is open.")
	fails(t, exitFailure, "name a server with --url")(runInProcess("agent", "--key", anyone.key, "board"))
}

// An order shows its origin, the actions that may follow, and this side's amount; the board names responses, totals and orders;
// deadlines may count from now.
func TestOrdersShowTheNextActions(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_pays"), s.registered("ben_works")
	befriend(ada, ben)
	service := ben.id("service", "add", "A sonnet", "Fourteen lines.", "--amount", "12")
	ada.run("service", "add", "An ode", "Long.")
	require.Nil(t, ben.run("service", "change", service, "--no-price")["amount_minor"])
	require.EqualValues(t, 1050, ben.run("service", "change", service, "--minor", "1050")["amount_minor"])
	require.Len(t, ada.list("service", "list", "@ben_works"), 1)
	require.Contains(t, ada.shown("find", "@ben_works"), "10.50 credits “A sonnet”")
	require.NotContains(t, ada.shown("find", "@ben_works"), "An ode")

	soon := time.Now()
	terms := []string{"offer", "--description", "x", "--deadline", "3d", "--amount", "1"}
	fails(t, exitUsage, "--title, or --service")(ada.try(append(terms, "--contractor", "@ben_works")...))
	refused := fails(t, exitUsage, "--title")(ada.try(append(terms, "--customer", "@ben_works")...))
	require.NotContains(t, refused, "--service")
	for _, command := range [][]string{{"quote"}, {"board", "post", "A", "B", "--deadline", "1d"}} {
		fails(t, exitUsage, "name the reward")(ada.try(command...))
	}
	offered := ada.shown("offer", "--contractor", "@ben_works", "--service", service, "--description", "Of love.", "--deadline", "3d",
		"--total", "11.55")
	require.Regexp(t, `(?m)^service +`+service, offered)
	require.Contains(t, offered, "“A sonnet”")
	require.Contains(t, offered, "a total of 11.55, fee included")
	record := ada.list("orders")[0]
	order := record["id"].(string)
	require.Equal(t, service, record["service_id"])
	at := graphtest.Got(time.Parse(time.RFC3339, record["deadline"].(string)))(t)
	require.WithinRange(t, at, soon.Add(72*time.Hour-time.Minute), time.Now().Add(72*time.Hour+time.Minute))
	fails(t, exitUsage, "such as 30m, 2h, 3d")(ada.try(offerTo(ben, "--deadline", "soon")...))
	require.Contains(t, ada.shown("orders"), "pay 11.55  "+at.UTC().Format("2006-01-02 15:04"))
	require.Contains(t, ben.shown("orders"), "get 10.50  ")

	ben.run("act", order, "accept")
	require.Regexp(t, `-11\.55 +with 1\.05 +@ben_works`, ada.shown("wallet", "--history"))
	ben.run("act", order, "start")
	require.Regexp(t, `(?m)^also possible +draft send`, ben.shown("order", order))
	require.Contains(t, ada.shown("draft", order), "No drafts of this order.")
	require.Contains(t, ada.refused("draft", "reply", order, "fine"), "has no draft")
	page := picture(t, 32)
	draft := ben.run("draft", "send", order, "Two lines\nso far.", "--file", page)
	require.Equal(t, draft["id"], ben.id("draft", "send", order, "Two lines\nso far.", "--file", page))
	require.Contains(t, ada.shown("draft", order), "    “Two lines\n    so far.”\n")
	require.Contains(t, ada.shown("draft", "list", order), "“Two lines")
	ada.run("download", draft["attachments"].([]any)[0].(map[string]any)["id"].(string), "--out", filepath.Join(t.TempDir(), "page.jpg"))
	shown := ada.shown("order", order)
	require.Contains(t, shown, "1, the newest not answered")
	require.Regexp(t, `(?m)^also possible +draft reply`, shown)
	replied := ada.run("draft", "reply", order, "changes", "Rhyme it.")
	require.Equal(t, "changes", replied["reply"].(map[string]any)["verdict"])
	require.Contains(t, ben.shown("draft", order), "changes “Rhyme it.”")
	require.Contains(t, ben.shown("order", order), "1, the newest answered: changes")
	ben.run("act", order, "deliver", "--result", "Done.")
	ada.run("act", order, "complete")
	require.Regexp(t, `(?m)^also possible +rate`, ada.shown("order", order))

	task := ada.id(newTask()...)
	first := ben.id("board", "respond", task, "I know some.", "--minor", "400")
	require.EqualValues(t, 900, ben.run("board", "change", task, first, "I know them all.", "--amount", "9")["amount_minor"])
	require.Equal(t, "withdrawn", ben.run("board", "withdraw", task, first)["state"])
	response := ben.id("board", "respond", task, "I know\nseveral.", "--amount", "6")
	require.Contains(t, ben.shown("board", "mine"), "withdrawn")
	require.Contains(t, ada.shown("board", "mine"), "“Name a color”")
	require.Contains(t, ben.shown("board"), "  1, yours open  ")
	answers := ada.shown("board", "answers", task)
	require.Regexp(t, `@ben_works +6\.00 +6\.60 +open`, answers)
	require.Contains(t, answers, "    “I know\n    several.”\n")
	for range 2 { // a repeat is the same order
		require.Contains(t, ada.shown("board", "select", task, response, "--total", "6.60"), "a total of 6.60, fee included")
	}
	orders := ben.list("orders")
	made := orders[slices.IndexFunc(orders, func(o map[string]any) bool { return o["task_id"] == task })]["id"].(string)
	ben.run("act", made, "start")
	for _, side := range []commandLine{ada, ben} {
		require.Contains(t, side.shown("board", "mine"), "order "+made+", in_progress")
	}
	require.Contains(t, ada.shown("order", made), task)

	sent := ben.shown("send", "@ada_pays", "Done.")
	require.Regexp(t, `(?m)^to +@ada_pays\n`, sent)
	require.Regexp(t, `(?m)^--id +[0-9a-f-]{36} `, sent)
	require.Regexp(t, `(?m) @ben_works\n    “Done.”\n`, ada.shown("read", "@ben_works"))
}

// An offer whose answer was lost is sent again with the same operation id, though its deadline is relative. A repeat with
// --operation-id is the same offer, too.
func TestALostOfferIsRepeated(t *testing.T) {
	t.Parallel()
	_, ada, ben := befriended(t)
	terms := offerTo(ben)
	named := append(terms, "--operation-id", "0192f0c1-3333-4000-8000-000000000003")
	first, second := ada.run(terms...)["id"], ada.run(named...)["id"]
	require.NotEqual(t, first, second)

	// A program that is killed before it has the answer leaves the request among the unanswered ones.
	for _, file := range graphtest.Got(filepath.Glob(filepath.Join(ada.key+".outbox", "done", "*")))(t) {
		if !strings.Contains(file, "0192f0c1") {
			require.NoError(t, os.Rename(file, filepath.Join(ada.key+".outbox", "waiting", filepath.Base(file))))
		}
	}
	began := time.Now().Unix()
	eventually(t, func() bool { return time.Now().Unix() > began }, "the clock stands")
	require.Equal(t, first, ada.run(terms...)["id"])
	require.Equal(t, second, ada.run(named...)["id"])
	require.NotEqual(t, first, ada.run(terms...)["id"], "an answered one is made anew")
}

// novel adds a member to every record of an answer that has an id, as a later version of the server might.
func novel(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = novel(member)
		}
		if value["id"] != nil {
			value["novel"] = map[string]any{"is": true}
		}
	case []any:
		for i, element := range value {
			value[i] = novel(element)
		}
	}
	return value
}

// With --json, commands print records as the server sent them, with members unknown to this program: alone, in lists and beside
// members of this program.
func TestCommandsPrintWholeRecords(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	s := sharedServer(t)
	proxy := s.tamperingProxy()
	proxy.tamper(func(_ *http.Request, answer []byte) []byte {
		var whole any
		if json.Unmarshal(answer, &whole) != nil {
			return answer
		}
		return graphtest.Got(json.Marshal(novel(whole)))(t)
	})
	s.url = proxy.url
	ada, ben := s.commandLine("ada"), s.commandLine("ben")
	ada.program, ben.program = true, true // the proxy adds a member to records
	whole := func(record map[string]any, members ...string) map[string]any {
		t.Helper()
		require.Equal(t, map[string]any{"is": true}, record["novel"], "%v", record)
		for _, name := range append(members, "id") {
			require.Contains(t, record, name)
		}
		return record
	}
	whole(ada.run("register", "ada_whole"), "lifecycle", "updated_at", "is_demo")
	benID := whole(ben.run("register", "ben_whole"))["id"].(string)
	whole(ada.run("befriend", "ben_whole"), "updated_at", "accepted_at")
	ben.run("befriend", "ada_whole")
	whole(ada.list("friends")[0], "updated_at")
	whole(ada.run("send", "ben_whole", "Hello"), "size_bytes", "replayed")
	offer := offerTo(ben, "--contractor", benID, "--operation-id", "0192f0c1-3333-4000-8000-000000000002")
	order := whole(ada.run(offer...), "fee_mode", "dispute", "created_at", "replayed")
	again := whole(ada.run(offer...), "stored")
	require.Equal(t, true, again["replayed"])
	whole(again["stored"].(map[string]any), "fee_mode")
	whole(ben.run("act", order["id"].(string), "accept"), "confirmed_total_minor")
	whole(ada.list("orders")[0], "funded_at")
	for _, entry := range ada.list("wallet", "--history") {
		whole(entry, "transaction_id")
	}
	task := ada.id(newTask()...)
	ben.run("board", "respond", task, "I can.")
	whole(ada.list("board", "mine")[0]["task"].(map[string]any), "updated_at")
	whole(ben.list("board", "mine")[0]["response"].(map[string]any), "task")
}
