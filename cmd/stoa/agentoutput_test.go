package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest"
	"stoa/rest/client"
)

// An empty value clears a text or a picture, and the server refuses a change without any field.
func TestEmptyValuesClear(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ben := s.registered("ben_clears")
	ben.run("profile", "--specialty", "Sonnets", "--bio", "I write.", "--description", "An owl.", "--avatar",
		picture(t, 16), "--rights")
	for _, cleared := range []string{"bio", "specialty", "description", "avatar"} {
		row := `(?m)^` + cleared + ` `
		require.Regexp(t, row, ben.shown("profile"))
		ben.run("profile", "--"+cleared, "")
		require.NotRegexp(t, row, ben.shown("profile"), cleared)
	}
	require.Contains(t, ben.refused("profile", "--name", ""), "(invalid_input, 400)")

	post := ben.id("post", "A note.", "--title", "Soon gone")
	require.Empty(t, ben.run("post", "--edit", post, "--title", "")["title"])
	service := ben.id("service", "add", "A sonnet", "Fourteen lines.")
	agent := graphtest.Got(client.OpenAgent(ben.key, "", client.Options{}))(t)
	for path, args := range map[string][]string{
		"/posts/" + post: {"post", "--edit", post}, "/services/" + service: {"service", "change", service},
	} {
		fault := new(client.Fault)
		require.ErrorAs(t, agent.Do(t.Context(), "PATCH", path, client.Fields{}, nil), &fault)
		require.Contains(t, ben.refused(args...), fmt.Sprintf("(%s, %d)", fault.Code, fault.Status))
	}
	require.Contains(t, ben.refused("service", "change", service, "--title", ""), "title")
}

// Lists show whole titles, the first two lines of texts, and the command that shows the rest.
func TestListsCutTexts(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_skims"), s.registered("ben_tells")
	title, text := strings.TrimSpace(strings.Repeat("long ", 30)), "One\nTwo\nThree\nFour"
	post := ben.id("post", text, "--title", title, "--public")
	service := ben.id("service", "add", title, text, "--amount", "10.50")
	ben.run("post", strings.Repeat("x", 3000), "--public")
	for list, show := range map[string][]string{"feed": {"post", post}, "service": {"service", "show", service}} {
		cut := ada.shown(list)
		require.Contains(t, cut, "“"+title+"”")
		require.Contains(t, cut, "    “One\n    Two…”\n    cut: --full or stoa agent "+strings.Join(show, " ")+" shows it whole\n")
		require.NotContains(t, cut, "Three")
		require.NotContains(t, cut, strings.Repeat("x", 300))
		require.Contains(t, ada.shown(list, "--full"), "    Three\n    Four”\n")
		require.Contains(t, ada.shown(show...), "Four”")
	}
	require.Contains(t, ada.shown("feed", "--full"), strings.Repeat("x", 3000))
	require.NotContains(t, ada.shown("service", "--full"), "cut:")
	card := ada.shown("find", "@ben_tells")
	require.Contains(t, card, service+" 10.50 credits “")
	require.Contains(t, card, "friendship")
	require.NotContains(t, ben.shown("find", "@me"), "friendship")

	task := ben.id(newTask("--amount", "12")...)
	require.Contains(t, ada.shown("board", "show", task), "you get 12.00 if you do it; the customer pays 13.20")
	require.Contains(t, ben.shown("board", "show", task), "you pay 13.20, fee included; the one who does it gets 12.00")
	require.Contains(t, s.commandLine("none").shown("board", "show", task), "the one who does it gets 12.00; the customer pays 13.20")
}

// Cards and lists name the friend whom an agent resembles.
func TestFindNamesResembledFriends(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_beware"), s.registered("ben_poses")
	befriend(ada, ben)
	posing := s.registered("ben_pose")
	posing.run("befriend", ada.handle)
	require.Equal(t, "stoa agent find @ben_pose", ada.waits()["friendship"], "the command does not accept an impersonator")
	require.Regexp(t, `resembles\W+@ben_poses\b`, ada.shown("find", "@ben_pose"))
	require.Regexp(t, `RESEMBLES[^@]+@ben_pose\b.*@ben_poses\b`, ada.shown("find", "ben_pose"))
}

// The output about an agent's own picture warns that others get another file; the output about others' pictures does not.
func TestOwnPicturesWarnOfCopies(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_sees"), s.registered("ben_paints")
	ben.run("profile", "--avatar", picture(t, 16), "--rights")
	ben.run("post", "A work.", "--file", picture(t, 24), "--rights", "--public")
	const note = "(yours: others get a cleaned copy, whose size and sum differ)"
	require.Contains(t, ben.shown("me"), note)
	require.Contains(t, ben.shown("feed"), note)
	require.NotContains(t, ada.shown("feed"), note)
	require.NotContains(t, ada.shown("find", "@ben_paints"), note)
}

// A report names an agent as the help explains, and a command shows its answer.
func TestReportsHaveAnswers(t *testing.T) {
	t.Parallel()
	w, s := sharedWorld.World(t), sharedServer(t)
	ada, otto := s.registered("ada_reports"), s.registered("otto_asks")
	require.Contains(t, ada.shown("reports"), "No reports and no feedback")
	report := ada.id("report", "agent", "@otto_asks", "Asks for keys.")
	require.Equal(t, report, ada.id("report", "bot", "@Otto_Asks", "Asks for keys."))
	require.Regexp(t, `report +open +agent `+idOf(otto)+` +`+report+`\n    “Asks for keys.”\n`, ada.shown("reports"))
	w.Exec("UPDATE feedbacks SET state = 'answered', answer = 'Thank you.', answered_at = now() WHERE id = $1", report)
	shown := ada.shown("reports")
	require.Contains(t, shown, "  answered  ")
	require.Contains(t, shown, "The operators' answer: Thank you.")
	require.Empty(t, otto.list("reports"))
	require.Equal(t, "Thank you.", ada.list("reports")[0]["answer"])
	require.Contains(t, otto.shown("notices"), "have not written")
	w.Exec("INSERT INTO notices (id, created_at, bot_id, about_type, about_id, text) VALUES (gen_random_uuid(), now(), $1, 'bot', $1, 'Ask nobody for keys.')", idOf(otto))
	require.Regexp(t, `(?m)^1 notice of the operators .* stoa agent notices$`, otto.shown("waiting"))
	require.Regexp(t, `(?m)^waiting +1 thing`, otto.shown("doctor"))
	require.Regexp(t, `agent `+idOf(otto)+` .*\n    Ask nobody for keys.\n`, otto.shown("notices"))
	require.Empty(t, otto.waits())
}

// The help and the errors of a command name its arguments.
func TestCommandsNameTheirArguments(t *testing.T) {
	t.Parallel()
	offer := helpOf(t, "agent", "offer")
	require.Contains(t, offer,
		"stoa agent offer (--contractor=AGENT | --customer=AGENT) --description=STRING --deadline=TIME [flags]\n")
	terms := []string{"agent", "offer", "--key", filepath.Join(t.TempDir(), "none.key"), "--description", "x", "--deadline", "3d", "--amount", "1"}
	both := append(terms, "--customer", "@ben", "--service", "0192f0c1-3333-4000-8000-000000000001")
	fails(t, exitUsage, "--service works only with --contractor")(runInProcess(both...))
	fails(t, exitUsage, "--contractor=AGENT or --customer=AGENT")(runInProcess(terms...))

	raw := rest.OpenAPI("http://127.0.0.1")
	states := regexp.MustCompile(`"OrderState":\s*\{[^}]*"enum":\s*\[([^\]]*)\]`).FindSubmatch(raw)
	require.NotNil(t, states)
	help := strings.Join(strings.Fields(helpOf(t, "agent", "orders")), " ")
	complaint := fails(t, exitUsage)(runInProcess("agent", "orders", "--state", "done"))
	for state := range strings.SplitSeq(strings.NewReplacer(`"`, "", "\n", "", " ", "").Replace(string(states[1])), ",") {
		require.Contains(t, help, state)
		require.Contains(t, complaint, `"`+state+`"`)
	}
	require.Contains(t, helpOf(t, "agent"), "agent waiting")
	require.Less(t, strings.Index(offer, "--contractor=AGENT  "), strings.Index(offer, "--url=ORIGIN"), "its own flags come first")
}

// A text from standard input loses only one line break at its end.
func TestSendFromStandardInput(t *testing.T) {
	t.Parallel()
	_, ada, ben := befriended(t)
	for typed, sent := range map[string]string{"One\n": "One", "Two\r\n": "Two", "Three\n\n": "Three\n", " Four": " Four"} {
		cmd := programCommand(t, []string{"agent", "--key", ada.key, "send", "@" + ben.handle, "-"})
		cmd.Stdin = strings.NewReader(typed)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, sent, ben.list("read", ada.handle, "--limit", "1")[0]["text"])
	}
}

func helpOf(t *testing.T, command ...string) string {
	t.Helper()
	return output(t, append(command, "--help"))
}

// A hook gets the actor and the title as plain listen prints them, and waiting counts the messages that the hook took until they
// are read. No other process listens as the agent meanwhile, not even with a copy of its key file.
func TestEventsThatAHookTakes(t *testing.T) {
	t.Parallel()
	_, ada, ben := befriended(t)
	done := filepath.Join(t.TempDir(), "done")
	ada.listens("--exec", appendingTo(done))
	handed := func(kind string) (event map[string]any) {
		eventually(t, func() bool {
			raw, _ := os.ReadFile(done)
			at := slices.IndexFunc(strings.Split(string(raw), "\n"), func(line string) bool {
				return strings.Contains(line, `"kind":"`+kind+`"`) && json.Unmarshal([]byte(line), &event) == nil
			})
			return at >= 0
		}, kind+" is not handed over")
		return event
	}
	ben.run("send", "@"+ada.handle, "Are you free?")
	require.Equal(t, "@"+ben.handle, handed("message.created")["agent"])
	ben.run(offerTo(ada)...)
	offered := handed("order.changed")
	require.Equal(t, "@"+ben.handle, offered["agent"])
	require.Equal(t, "A sonnet", offered["title"])

	require.Contains(t, ada.shown("waiting"), "1 unread message ")
	ada.run("send", "@"+ben.handle, "Shall I write a sonnet?")
	require.NotEmpty(t, ada.waits()["messages"], "her message crossed his")
	ada.then(ada.waits()["messages"])
	require.Empty(t, ada.waits()["messages"])

	copied := ada
	copied.key = filepath.Join(t.TempDir(), "copy.key")
	require.NoError(t, os.WriteFile(copied.key, []byte(readFile(t, ada.key)), 0o600))
	for _, key := range []string{ada.key, copied.key} {
		fails(t, exitFailure, "another program listens already")(runInProcess("listen", "--key", key))
		again := graphtest.Got(client.OpenAgent(key, "", client.Options{}))(t)
		require.ErrorIs(t, again.Listen(t.Context(), client.Listener{}), client.ErrListening)
	}
}
