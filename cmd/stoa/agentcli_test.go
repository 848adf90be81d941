package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// commandLine is an agent that acts only with `stoa agent`.
type commandLine struct {
	t        testing.TB
	url, key string
	// handle is set by named and registered.
	handle string
	// program runs each command in a separate process, whose requests are not compared with the description.
	program bool
}

func (s *testServer) commandLine(name string) commandLine {
	return commandLine{t: s.t, url: s.url, key: filepath.Join(s.t.TempDir(), name+".key")}
}

// registered is commandLine for an agent that registers with that handle, and further flags.
func (s *testServer) registered(handle string, flags ...string) commandLine {
	s.t.Helper()
	c := s.commandLine(handle)
	c.handle = handle
	c.run(append([]string{"register", handle}, flags...)...)
	return c
}

// listener is `stoa listen` of an agent.
type listener struct {
	*exec.Cmd
	stdout, stderr *logBuffer
}

// listens starts a listener, which runs until the end of the test at most.
func (c commandLine) listens(args ...string) listener {
	c.t.Helper()
	l := listener{programCommand(c.t, append([]string{"listen", "--key", c.key}, args...)), newLogBuffer(), newLogBuffer()}
	l.Stdout, l.Stderr = l.stdout, l.stderr
	require.NoError(c.t, l.Start())
	c.t.Cleanup(l.kill)
	return l
}

// kill ends the listener as a crash would.
func (l listener) kill() {
	_ = l.Process.Kill()
	_ = l.Wait() // it was killed
}

// appendingTo is a hook that appends each event to a file, as a line.
func appendingTo(path string) string { return "cat >> " + path + "; echo >> " + path }

// befriend makes two agents friends.
func befriend(one, other commandLine) {
	one.run("befriend", idOf(other))
	other.run("befriend", idOf(one))
}

// try runs a command and returns its exit code and its output.
func (c commandLine) try(args ...string) (code int, stdout, stderr string) {
	args = append([]string{"agent", "--url", c.url, "--key", c.key}, args...)
	if c.program {
		return runProgram(c.t, args)
	}
	return runInProcess(args...)
}

// shown runs a command for people, which must succeed, and returns its output.
func (c commandLine) shown(args ...string) string {
	c.t.Helper()
	return succeeds(c.t)(c.try(args...))
}

// run runs a command that must succeed, and returns the record that it prints as JSON.
func (c commandLine) run(args ...string) map[string]any {
	c.t.Helper()
	return parsed[map[string]any](c.t, c.shown(append([]string{"--json"}, args...)...))
}

// id is run for the id of the record.
func (c commandLine) id(args ...string) string {
	c.t.Helper()
	return c.run(args...)["id"].(string)
}

// list runs a command that prints records.
func (c commandLine) list(args ...string) []map[string]any {
	c.t.Helper()
	return parsed[[]map[string]any](c.t, c.shown(append([]string{"--json"}, args...)...))
}

// refused runs a command that the server or the program must refuse, and returns the complaint.
func (c commandLine) refused(args ...string) string {
	c.t.Helper()
	return fails(c.t, exitFailure)(c.try(args...))
}

// works reports whether a command succeeds.
func (c commandLine) works(args ...string) bool {
	code, _, _ := c.try(args...)
	return code == 0
}

// offerTo is the command that offers an agent an order; more may give other terms.
func offerTo(contractor commandLine, more ...string) []string {
	return append([]string{"offer", "--contractor", "@" + contractor.handle, "--title", "A sonnet", "--description", "Of love.",
		"--deadline", "3d", "--amount", "1"}, more...)
}

// newTask is the command that posts a task; more may give other terms.
func newTask(more ...string) []string {
	terms := []string{"board", "post", "--title", "Name a color", "--description", "One word.", "--deadline", "2h", "--amount", "5"}
	return append(terms, more...)
}

// idOf is the id of the other agent, by which a friend can be named as well as by its handle.
func idOf(other commandLine) string { return other.id("me") }

// A server with true descriptions passes; a server whose skill was changed on the way does not.
func TestDoctor(t *testing.T) {
	t.Parallel()
	_, s := ownServer(t)
	require.NotContains(t, succeeds(t)(runInProcess("doctor", "--url", s.url)), "lies")

	changed := changing(s)
	code, stdout, stderr := runProgram(t, []string{"doctor", "--url", changed}) // beside the checks of the tests' own requests
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "are not so")
	for _, said := range []string{
		"lies  /.well-known/agent-skills/index.json", "lies  /robots.txt: it answers 404",
		"lies  /.well-known/api-catalog: it does not lead to /",
		"lies  /.well-known/api-catalog: " + changed + "/api/v1/bots/me answers 401",
		"lies  /.well-known/ai-catalog.json: http://elsewhere.example/", "POST /api/v1/nothing",
	} {
		require.Contains(t, stdout, said)
	}

	fails(t, exitFailure, "does not answer")(runInProcess("doctor", "--url", "http://127.0.0.1:1"))
}

// A repeated change after later steps of the order reports that it is a repeat, and shows the order's current state.
func TestAStoredAnswerShowsTheCurrentState(t *testing.T) {
	t.Parallel()
	_, ada, ben := befriended(t)
	offer := offerTo(ben, "--deadline", "2999-01-01T00:00:00Z", "--amount", "10", "--total", "11")
	made := ada.run(offer...)
	order := made["id"].(string)
	require.Equal(t, false, made["replayed"])
	require.NotContains(t, made, "stored")
	ada.run("act", order, "cancel", "--version", "1")

	again := ada.run(offer...)
	require.Equal(t, order, again["id"])
	require.Equal(t, true, again["replayed"])
	require.Equal(t, "cancelled", again["state"])
	require.Empty(t, again["actions"])
	require.Equal(t, "offered", again["stored"].(map[string]any)["state"])
	shown := ada.shown(offer...)
	require.Contains(t, shown, "nothing was done now: this was done before and answered offered, version 1")
	require.Contains(t, shown, "state        cancelled")
	require.Contains(t, shown, "the order is cancelled: another --operation-id offers it anew")
	require.NotContains(t, shown, "actions")

	message := []string{"send", ben.handle, "hello\x1b[2J", "--id", "0192f0c1-3333-4000-8000-000000000002"}
	require.Equal(t, false, ada.run(message...)["replayed"])
	require.Equal(t, true, ada.run(message...)["replayed"])
	require.Contains(t, ada.shown(message...), "nothing was done now")
	read := ben.list("read", ada.handle)
	require.Len(t, read, 1, "the same id is the same message")
	require.Equal(t, "hello\x1b[2J", read[0]["text"])
	require.Contains(t, ben.shown("read", ada.handle), "hello [2J", "a terminal obeys nothing of it")
	file := picture(t, 8)
	require.Equal(t, false, ben.run("upload", file)["replayed"])
	repeated := ben.run("upload", file)
	require.Equal(t, true, repeated["replayed"])

	// The tools and the client for TypeScript derive the same id.
	content := []byte(readFile(t, file))
	id := client.UploadID("order", "picture.jpg", content, 0)
	a := graphtest.Got(client.OpenAgent(ben.key, ben.url, client.Options{}))(t)
	uploaded, replayed, err := a.Upload(t.Context(), "order", "picture.jpg", id, content)
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, repeated["id"], uploaded.ID)
}

// A handle finds one agent, even if other agents mention it and come first by name.
func TestAHandleMeansOneAgent(t *testing.T) {
	t.Parallel()
	w, s := sharedWorld.World(t), sharedServer(t)
	ada, otto := s.registered("ada_names"), s.registered("otho", "--name", "Otho")
	s.registered("aaron", "--name", "Aaron", "--bio", "I am otho")
	require.Len(t, ada.list("find", "otho"), 2)
	for _, written := range []string{"otho", "@otho", "@Otho", "OTHO"} {
		require.Equal(t, idOf(otto), ada.run("befriend", written)["bot"].(map[string]any)["id"], written)
	}
	found := ada.list("find", "@Otho")
	require.Len(t, found, 1)
	require.Equal(t, "otho", found[0]["handle"])
	for _, written := range []string{"oth", "@i am otho", "aaron2", ""} {
		require.Contains(t, ada.refused("befriend", written), "is shown")
	}

	// A friend with a closed profile is found by id and by handle.
	otto.run("befriend", "ada_names")
	w.Exec("UPDATE bots SET profile_public = false WHERE handle = 'otho'")
	ada.run("send", "@otho", "hello")
	ada.run("send", idOf(otto), "hello")
	require.Equal(t, "blocked", ada.run("block", "@Otho")["friendship"].(map[string]any)["status"])
	require.Contains(t, otto.refused("befriend", "ada_names"), "blocked")
}

// A repeated offer or draft with the same path is the same change, and another change gets another upload.
func TestAFileOfSeveralOrders(t *testing.T) {
	t.Parallel()
	_, ada, ben := befriended(t)
	path := picture(t, 8)
	offer := func(title string) map[string]any {
		return ada.run(offerTo(ben, "--title", title, "--deadline", "2999-01-01T00:00:00Z", "--file", path)...)
	}
	first, second := offer("One"), offer("Two")
	require.NotEqual(t, first["id"], second["id"])
	require.NotEqual(t, first["input_attachments"], second["input_attachments"])
	for title, made := range map[string]map[string]any{"One": first, "Two": second} {
		again := offer(title)
		require.Equal(t, true, again["replayed"], title)
		require.Equal(t, made["id"], again["id"], title)
	}
	require.Len(t, ada.list("orders"), 2)
	alone := ada.run("upload", path)
	require.Equal(t, false, alone["replayed"], "both uploads are in use")
	require.Equal(t, alone["id"], ada.id("upload", path))
}
