package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// trader is an agent of some kind. It acts twice if its kind promises that a repeat has no effect.
type trader interface {
	// register makes the agent and returns its id.
	register(handle string) (id string)
	// ask asks another agent for friendship, agree accepts every request.
	ask(id string)
	agree()
	// offer offers another agent an order over 1000 and returns the order's id.
	offer(contractor string) (order string)
	// act takes the next step of an order; result is the delivered text.
	act(order, action, result string)
	available() int64
}

// Agents of every kind trade in a ring on one server: one that knows skill.md alone, a model with the tools alone, programs in Go and in
// TypeScript, and commands. Each pays its neighbor on the one side and is paid by the one on the other.
func TestAgentsOfEveryKindTrade(t *testing.T) {
	t.Parallel()
	w, s := sharedWorld.World(t), sharedServer(t)
	kinds := map[string]trader{
		"skill": newSkillTrader(s), "go": &goTrader{t: t, s: s}, "commands": commandTrader{s.commandLine("trader")},
		"tools": &toolTrader{t: t, url: s.url},
	}
	// The client in TypeScript has to be built first, which .ci/typescript does.
	if program := os.Getenv("STOA_TEST_TRADER"); program != "" {
		kinds["typescript"] = newNodeTrader(s, program)
	}
	var ring []trader
	var ids []string
	for kind, agent := range kinds {
		ids = append(ids, agent.register("trader_"+kind))
		ring = append(ring, agent)
	}
	for i, customer := range ring {
		next := (i + 1) % len(ring)
		trade(customer, ring[next], ids[next])
	}
	for kind, agent := range kinds {
		require.EqualValues(t, 500_000-1100+1000, agent.available(), kind)
	}
	const ordered = "SELECT count(*) FROM orders WHERE description = 'A line.'"
	require.EqualValues(t, len(ring), w.Count(ordered+" AND state = 'closed' AND outcome = 'accepted'"))
	require.EqualValues(t, len(ring), w.Count(ordered))
}

// trade takes two agents from the request for friendship to a paid order.
func trade(customer, contractor trader, contractorID string) {
	customer.ask(contractorID)
	contractor.agree()
	order := customer.offer(contractorID)
	contractor.act(order, "accept", "")
	contractor.act(order, "start", "")
	contractor.act(order, "deliver", "A line.")
	customer.act(order, "complete", "")
}

// goTrader is a program in Go, on rest/client.
type goTrader struct {
	t  testing.TB
	s  *testServer
	as *client.Agent
}

func (g *goTrader) register(handle string) string {
	g.as, _ = g.s.openAgent(handle)
	return g.as.Identity().ID
}

func (g *goTrader) ask(id string) {
	graphtest.OK(g.t)(g.as.Befriend(g.t.Context(), id))
}

func (g *goTrader) agree() {
	for contact, err := range g.as.Contacts(g.t.Context()) {
		require.NoError(g.t, err)
		if contact.State == "pending" && !contact.RequestedByMe {
			graphtest.OK(g.t)(g.as.Accept(g.t.Context(), contact.ID))
		}
	}
}

func (g *goTrader) offer(contractor string) (order string) {
	quote := graphtest.Got(g.as.Quote(g.t.Context(), 1000))(g.t)
	for range 2 {
		made := graphtest.Got(g.as.Offer(g.t.Context(), client.OrderInput{
			Title: "From Go", Description: "A line.", Deadline: "2999-01-01T00:00:00Z", Amount: 1000,
			ContractorID: contractor, ConfirmedTotal: quote.Total,
		}))(g.t)
		order = made.ID
	}
	return order
}

func (g *goTrader) act(id, action, result string) {
	order := graphtest.Got(g.as.Order(g.t.Context(), id))(g.t)
	var more client.Fields
	if action == "deliver" {
		more = client.Fields{"result_text": result}
	}
	for range 2 {
		graphtest.OK(g.t)(g.as.ActOn(g.t.Context(), id, action, order.Version, more))
	}
}

func (g *goTrader) available() int64 {
	return graphtest.Got(g.as.Wallet(g.t.Context()))(g.t).Available
}

// commandTrader acts by `stoa agent`.
type commandTrader struct{ commandLine }

func (c commandTrader) register(handle string) string {
	return c.run("register", handle)["id"].(string)
}
func (c commandTrader) ask(id string) { c.run("befriend", id) }

func (c commandTrader) agree() {
	for _, contact := range c.list("friends") {
		c.run("befriend", contact["bot"].(map[string]any)["id"].(string))
	}
}

func (c commandTrader) offer(contractor string) (order string) {
	total := strconv.FormatFloat(c.run("quote", "10")["total_minor"].(float64)/100, 'f', 2, 64)
	for range 2 {
		order = c.id("offer", "--contractor", contractor, "--title", "By commands", "--description", "A line.", "--deadline",
			"2999-01-01T00:00:00Z", "--amount", "10", "--total", total)
	}
	return order
}

func (c commandTrader) act(order, action, result string) {
	args := []string{"act", order, action}
	if result != "" {
		args = append(args, "--result", result)
	}
	c.run(args...)
}

func (c commandTrader) available() int64 { return int64(c.run("wallet")["available_minor"].(float64)) }

// skillTrader is an agent in shell that has read the server's skill.md: it has the functions that the page teaches, and requests.
type skillTrader struct {
	t      testing.TB
	skill  string
	folder string
}

var shellFunction = regexp.MustCompile(`(?ms)^\w+\(\) \{(?:[^\n]*\}\n|\n.*?^\}\n)|^BASE=[^\n]*\n`)

func newSkillTrader(s *testServer) skillTrader {
	s.t.Helper()
	functions := shellFunction.FindAllString(string(s.get("/skill.md").raw), -1)
	require.Len(s.t, functions, 12, "BASE, api, pick, uuid, once, upload, files, as, register, act, unbase, events")
	return skillTrader{s.t, "set -eu\numask 077\n" + strings.Join(functions, "") + "if [ -e me.token ]; then as me; fi\n",
		s.t.TempDir()}
}

// sh runs a script after the functions of the page, and returns its output.
func (k skillTrader) sh(script string) string {
	k.t.Helper()
	cmd := exec.CommandContext(k.t.Context(), "sh", "-c", k.skill+script)
	cmd.Dir = k.folder
	out, err := cmd.CombinedOutput()
	require.NoError(k.t, err, "%s: %s", script, out)
	return strings.TrimSpace(string(out))
}

func (k skillTrader) register(handle string) string {
	return k.sh("register me " + handle + " trade; pick id < me.json")
}

func (k skillTrader) ask(id string) {
	k.sh(`api POST /contacts/requests '{"recipient_id": "` + id + `"}'`)
}

func (k skillTrader) agree() {
	k.sh(`api POST "/contacts/$(api GET /contacts | pick id)/accept" '{}'`)
}

func (k skillTrader) offer(contractor string) string {
	return k.sh(`TOTAL=$(api POST /orders/quote '{"amount_minor": 1000}' | pick total_minor)
TERMS='"title": "By curl", "description": "A line.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000,
  "contractor_id": "` + contractor + `", "confirmed_total_minor": '"$TOTAL"
once offer /orders "$TERMS" > /dev/null
once offer /orders "$TERMS" | pick id`)
}

func (k skillTrader) act(order, action, result string) {
	more := ""
	if action == "deliver" {
		more = `, "result_text": "` + result + `"`
	}
	step := "act " + action + " '" + more + "';"
	k.sh("ORDER=" + order + ";" + step + step)
}

func (k skillTrader) available() int64 {
	return graphtest.Got(strconv.ParseInt(k.sh("api GET /wallet | pick available_minor"), 10, 64))(k.t)
}

// nodeTrader is a program in TypeScript, rest/client/typescript/test/trader.ts, which reads its orders line by line.
type nodeTrader struct {
	t       testing.TB
	in      io.Writer
	answers *bufio.Scanner
}

func newNodeTrader(s *testServer, program string) nodeTrader {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "node", program)
	cmd.Env, cmd.Stderr = append(cmd.Environ(), "BASE="+s.url), os.Stderr
	in := graphtest.Got(cmd.StdinPipe())(s.t)
	out := graphtest.Got(cmd.StdoutPipe())(s.t)
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // it ends with its input, or was killed with the test
	})
	return nodeTrader{s.t, in, bufio.NewScanner(out)}
}

func (n nodeTrader) do(into any, words ...string) {
	n.t.Helper()
	require.NoError(n.t, json.NewEncoder(n.in).Encode(words))
	require.True(n.t, n.answers.Scan(), "%v has no answer", words)
	require.NoError(n.t, json.Unmarshal(n.answers.Bytes(), into))
}

func (n nodeTrader) register(handle string) (id string) {
	n.do(&id, "register", handle)
	return id
}

func (n nodeTrader) ask(id string) { n.do(new(any), "ask", id) }
func (n nodeTrader) agree()        { n.do(new(any), "agree") }

func (n nodeTrader) offer(contractor string) (order string) {
	n.do(&order, "offer", contractor)
	return order
}

func (n nodeTrader) act(order, action, result string) { n.do(new(any), "act", order, action, result) }

func (n nodeTrader) available() (minor int64) {
	n.do(&minor, "available")
	return minor
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
