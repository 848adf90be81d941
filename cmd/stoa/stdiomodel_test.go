package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// stdioModel is a program of a model that calls the tools of `stoa mcp`.
type stdioModel struct {
	t   testing.TB
	url string
	key string
	// files is the folder whose files the model may upload.
	files string
	// flags are further arguments of the program.
	flags   []string
	session *sdk.ClientSession
	// output are the schemas of the tools' results.
	output map[string]*jsonschema.Schema
	kill   func()
	called map[string]bool
}

func (s *testServer) stdioModel(name string) *stdioModel {
	s.t.Helper()
	m := &stdioModel{
		t: s.t, url: s.url, key: filepath.Join(s.t.TempDir(), name+".key"), files: s.t.TempDir(), called: make(map[string]bool),
		output: make(map[string]*jsonschema.Schema),
	}
	m.start()
	s.t.Cleanup(func() { m.kill() })
	return m
}

// start starts the program of the tools.
func (m *stdioModel) start() {
	m.t.Helper()
	cmd := programCommand(m.t, append([]string{"mcp", "--url", m.url, "--key", m.key, "--files", m.files}, m.flags...))
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(m.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	require.NoError(m.t, err)
	for tool, err := range session.Tools(m.t.Context(), nil) {
		require.NoError(m.t, err)
		if m.output[tool.Name] != nil {
			break // the program is the same as before
		}
		compiler := jsonschema.NewCompiler()
		require.NoError(m.t, compiler.AddResource(tool.Name, tool.OutputSchema))
		m.output[tool.Name], err = compiler.Compile(tool.Name)
		require.NoError(m.t, err)
	}
	m.session, m.kill = session, func() {
		_ = cmd.Process.Kill()
		_ = session.Close() // it was killed
	}
}

// call calls a tool three times, which must say the same, and returns it.
func (m *stdioModel) call(name string, arguments map[string]any) map[string]any {
	m.t.Helper()
	first, again := m.thrice(name, arguments)
	for _, name := range []string{"repeated", "replayed", "now"} {
		delete(first, name)
		delete(again, name)
	}
	require.Equal(m.t, first, again, "%s %v", name, arguments)
	return first
}

// thrice calls a tool three times and returns what it said to the second and the third. The program is killed while the first call is
// under way, and after the second.
func (m *stdioModel) thrice(name string, arguments map[string]any) (second, third map[string]any) {
	m.t.Helper()
	m.called[name] = true
	interrupted := make(chan struct{})
	go func() {
		defer close(interrupted)
		_, _ = m.session.CallTool(m.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments}) // it may be lost
	}()
	m.kill()
	<-interrupted
	m.start()
	second = m.once(name, arguments)
	m.kill()
	m.start()
	return second, m.once(name, arguments)
}

var (
	nonces = regexp.MustCompile(`untrusted [0-9a-f]{16}(>|\\u003e)`)
	active = regexp.MustCompile(`"last_active_at":"[^"]*"`)
)

// once calls a tool that must not refuse. What may differ between two calls in one state is made equal: the nonces of fences, and when
// the member was last active.
func (m *stdioModel) once(name string, arguments map[string]any) (content map[string]any) {
	m.t.Helper()
	result, err := m.session.CallTool(m.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(m.t, err)
	text := result.Content[0].(*sdk.TextContent).Text
	require.False(m.t, result.IsError, "%s %v: %s", name, arguments, text)
	require.NoError(m.t, m.output[name].Validate(result.StructuredContent), "%s %v", name, arguments)
	raw, err := json.Marshal(result.StructuredContent)
	require.NoError(m.t, err)
	raw = active.ReplaceAll(nonces.ReplaceAll(raw, []byte("untrusted>")), []byte(`"last_active_at":""`))
	require.NoError(m.t, json.Unmarshal(raw, &content))
	return content
}

// single calls a tool once, because a repeat is refused.
func (m *stdioModel) single(name string, arguments map[string]any) map[string]any {
	m.t.Helper()
	m.called[name] = true
	return m.once(name, arguments)
}

// A line that is no message is answered with an error, and the tools go on.
func TestMCPSurvivesWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	cmd := programCommand(t, []string{"mcp", "--url", "http://127.0.0.1:1", "--key", filepath.Join(t.TempDir(), "key")})
	// The input stays open until everything is answered: a client that closes it has gone.
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(input, "no JSON\n"+
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+
		"\n"+`{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`+"\n"+`{"jsonrpc":"2.0","id":3,"method":"ping"}`+"\n")
	require.NoError(t, err)
	answered := make(map[string]any)
	lines := bufio.NewScanner(output)
	for len(answered) < 4 && lines.Scan() {
		var answer struct {
			ID    any `json:"id"`
			Error struct {
				Code int `json:"code"`
			} `json:"error"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &answer), lines.Text())
		answered[fmt.Sprint(answer.ID)] = answer.Error.Code
	}
	require.Equal(t, map[string]any{"<nil>": -32700, "1": 0, "2": -32601, "3": 0}, answered)
	require.NoError(t, input.Close())
	require.NoError(t, cmd.Wait())
}
