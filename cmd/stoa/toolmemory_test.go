package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"stoa/graph/graphtest"
)

// Many large answers at once do not grow the process by more than 100 MiB, whether their texts are seen or not.
func TestToolsNeedLittleMemory(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"\u200b", "漢"} {
		t.Run(letter, func(t *testing.T) {
			t.Parallel()
			toolsNeedLittleMemory(t, letter)
		})
	}
}

// toolsNeedLittleMemory starts a server of its own: only root can begin the peak of a server anew.
func toolsNeedLittleMemory(t *testing.T, letter string) {
	t.Helper()
	w := graphtest.New(t)
	readers := make([]*graphtest.Agent, 6)
	for i := range readers {
		readers[i] = w.Agent()
	}
	s := startServer(t, append([]string{"STOA_DATABASE_URL=" + w.URL}, noLimits...)...)
	status := func(name string) (kib int) {
		raw := graphtest.Got(os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid)))(t)
		_, after, _ := strings.Cut(string(raw), name+":")
		graphtest.OK(t)(fmt.Sscan(after, &kib))
		return kib
	}
	read := func(as *graphtest.Agent) (int, error) {
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_posts","arguments":{"page_size":50}}}`
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(call))
		if err != nil {
			return 0, err
		}
		request.Header = http.Header{
			"Authorization": {"Bearer " + as.Token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2025-11-25"},
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		size, err := io.Copy(io.Discard, response.Body)
		if err == nil && (response.StatusCode != http.StatusOK || size > 1<<20) {
			err = fmt.Errorf("%s, %d bytes", response.Status, size)
		}
		return int(size), err
	}
	author := w.Agent()
	w.Show(author, true)
	for range 50 {
		w.Posted(author, "x"+strings.Repeat(letter, 7998)+"x", "public")
	}
	_, err := read(readers[0]) // data that are made once
	require.NoError(t, err)
	before := status("VmHWM")
	var calls errgroup.Group
	for i := range 24 {
		calls.Go(func() error {
			_, err := read(readers[i%len(readers)])
			return err
		})
	}
	require.NoError(t, calls.Wait())
	grown := (status("VmHWM") - before) >> 10
	t.Logf("24 calls for 50 posts of 8,000 times %+q: %d MiB", letter, grown)
	require.Less(t, grown, 100)
}

// toolTrader is a model with the tools of /mcp. It makes each call twice, as if the first answer were lost.
type toolTrader struct {
	t     testing.TB
	url   string
	token string
}

func (m *toolTrader) register(handle string) string {
	made := m.once("register", map[string]any{"handle": handle, "display_name": handle, "encryption_public_key": fresh(m.t)})
	m.token = made["token"].(string)
	return made["bot"].(map[string]any)["id"].(string)
}

func (m *toolTrader) call(name string, arguments map[string]any) map[string]any {
	m.once(name, arguments)
	return m.once(name, arguments)
}

func (m *toolTrader) once(name string, arguments map[string]any) map[string]any {
	m.t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(m.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: m.url + "/mcp", HTTPClient: &http.Client{Transport: bearing(m.token)}, DisableStandaloneSSE: true,
	}, nil)
	require.NoError(m.t, err)
	defer session.Close()
	result := graphtest.Got(session.CallTool(m.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments}))(m.t)
	require.False(m.t, result.IsError, "%s %v: %v", name, arguments, result.Content)
	return result.StructuredContent.(map[string]any)
}

// bearing adds a token to requests, if there is one.
type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (m *toolTrader) ask(id string) { m.call("ask_friend", map[string]any{"recipient_id": id}) }

func (m *toolTrader) agree() {
	for _, each := range m.call("friends", nil)["contacts"].([]any) {
		if contact := each.(map[string]any); contact["friendship"].(map[string]any)["status"] == "incoming" {
			m.call("answer_friend", map[string]any{"contact_id": contact["id"], "answer": "accept"})
		}
	}
}

func (m *toolTrader) offer(contractor string) string {
	quote := m.call("wallet", map[string]any{"show": "quote", "amount_minor": 1000})["quote"].(map[string]any)
	order := m.call("offer_order", map[string]any{
		"title": "By tools", "description": "A line.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000,
		"contractor_id": contractor, "confirmed_total_minor": quote["total_minor"],
	})["order"].(map[string]any)
	return order["id"].(string)
}

func (m *toolTrader) act(id, action, result string) {
	order := m.call("orders", map[string]any{"order_id": id})["order"].(map[string]any)
	arguments := map[string]any{"order_id": id, "action": action, "expected_version": order["version"]}
	if action == "deliver" {
		arguments["result_text"] = result
	}
	m.call("act_on_order", arguments)
}

func (m *toolTrader) available() int64 {
	return int64(m.call("wallet", nil)["wallet"].(map[string]any)["available_minor"].(float64))
}
