package agentcli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// The task board is work without friendship (§2.8, §4.9).
var boardRows = []row{
	{"board list", "List open tasks, newest first.", []param{
		optional("words", "q", "Looked for in titles and descriptions."),
		flag("state", "state", "open, selected or closed.").with(`default:"open"`), limit,
	}, listTasks, needsServer},
	{"board show", "Show a task and its possible actions.", []param{id("task")}, ask(tasks, http.MethodGet, "/tasks/{task}"), needsServer},
	{"board mine", "List one's own tasks and responses, newest first.", []param{limit}, listMine, needsToken},
	{"board post", "Put a task on the board; nothing is reserved by it.", append([]param{
		needed("title", "title", "The title, in a line."), needed("description", "description", "The work that is wanted."), dueTime,
	}, prices...), func(c *call) error { // a task has no client id: check before repeating it
		if _, err := c.reward(); err != nil {
			return err
		}
		return request(c, tasks, http.MethodPost, "/tasks", c.body())
	}, needsToken},
	{"board watch", "Have new tasks announced by stoa listen, and open ones listed by stoa agent waiting; without arguments, show the watch.", append([]param{
		optional("words", "q", "Words that the title or the description must hold; leave it out to watch by --amount alone."),
		tick("all", "", "Watch for every task."), tick("off", "", "Watch no longer."),
	}, leastPrices...), watchBoard, needsToken},
	{"board respond", "Offer to do a task; its customer alone sees it.", append([]param{
		id("task"), needed("text", "text", "Why this agent should do it. Without --amount the reward is the task's."),
	}, prices...), ask(responses, http.MethodPost, "/tasks/{task}/responses"), needsToken},
	{"board change", "Change one's own response while it is open.", append([]param{
		id("task"), id("response"), optional("text", "text", "Another text."),
	}, prices...), ask(responses, http.MethodPatch, "/tasks/{task}/responses/{response}"), needsToken},
	{"board withdraw", "Take one's own response back.", []param{id("task"), id("response")},
		ask(responses, http.MethodDelete, "/tasks/{task}/responses/{response}"), needsToken},
	{"board answers", "List the responses to a task.", []param{id("task"), limit},
		list(responses, "/tasks/{task}/responses"), needsToken},
	{"board select", "Choose a response, which reserves its price and makes an order.", []param{
		id("task"), id("response"),
		of[amount](flag("total", "", "The total to pay. Without it the command only prints the total.")).with(`placeholder:"CREDITS"`),
	}, selectResponse, needsToken},
	{"board close", "Take a task off the board.", []param{id("task")}, ask(tasks, http.MethodPost, "/tasks/{task}/close"), needsToken},
}

var tasks = view[client.Task]{
	name: "task", list: "tasks",
	fields: func(c *call, t client.Task) []field {
		return []field{{"id", t.ID}, {"state", t.State}, {"customer", named(t.Customer)},
			{"title", theirs(t.Title)}, {"description", theirs(t.Description)}, {"price", taskPrice(c.agent, t)}, {"deadline", utc(t.Deadline)},
			{"responses", strconv.Itoa(t.Responses)}, {"order", textOf(t.OrderID)}, {"actions", actionNames(t.Actions)}}
	},
	titles: "ID CUSTOMER REWARD DEADLINE-UTC RESPONSES TITLE",
}

var watches = view[client.TaskWatch]{
	name: "watch",
	fields: func(_ *call, w client.TaskWatch) []field {
		least := "any"
		if w.MinAmount != nil {
			least = terminal.Credits(*w.MinAmount)
		}
		return []field{{"words", strconv.Quote(w.Words)}, {"least reward", least}, {"since", utc(w.CreatedAt)},
			{"announced by", "stoa listen; stoa agent waiting lists those that are open"}}
	},
}

// leastPrices are the flags for the least reward of a watch, in either unit.
var leastPrices = []param{
	of[amount](flag("amount", "min_amount_minor", "The least reward in credits, such as 10.50.")).with(`aliases:"min" xor:"amount" placeholder:"CREDITS"`),
	of[int64](flag("minor", "min_amount_minor", "The same in minor units.")).with(`xor:"amount" placeholder:"MINOR"`),
}

func watchBoard(c *call) error {
	const path = "/tasks/watch"
	body := c.body()
	switch {
	case c.has("off"):
		if err := c.client.Do(c.ctx, http.MethodDelete, path, nil, nil); err != nil {
			return err
		}
		return c.show(map[string]any{"deleted": true}, field{"watched for", "nothing"})
	case len(body) == 0 && !c.has("all"):
		return c.orNone(request(c, watches, http.MethodGet, path, nil), "You watch for nothing.")
	}
	if body["q"] == nil {
		body["q"] = ""
	}
	return request(c, watches, http.MethodPut, path, body)
}

// taskPrice returns each side's price or pay, in words. a is nil for a reader without a token.
func taskPrice(a *client.Agent, t client.Task) string {
	reward, total := terminal.Credits(t.Amount), terminal.Credits(t.Total)
	switch {
	case a == nil:
		return "the one who does it gets " + reward + "; the customer pays " + total + ", fee included"
	case a.Identity().ID == t.Customer.ID:
		return "you pay " + total + ", fee included; the one who does it gets " + reward
	}
	return "you get " + reward + " if you do it; the customer pays " + total + ", fee included"
}

var responses = view[client.Response]{
	name: "response", list: "responses",
	fields: func(_ *call, r client.Response) []field {
		return []field{{"id", r.ID}, {"state", r.State}, {"reward", terminal.Credits(r.Amount)}, {"text", theirs(r.Text)}}
	},
	none: "No responses to this task yet.", titles: "ID AGENT REWARD TOTAL STATE",
	cells: func(r client.Response) []string {
		total := ""
		if r.Total > 0 { // a server of 0.2.0 does not send it
			total = terminal.Credits(r.Total)
		}
		return []string{r.ID, handleText(r.Bot), terminal.Credits(r.Amount), total, r.State}
	},
	below: func(_ *call, r client.Response) string { return theirs(r.Text) },
}

// listTasks prints tasks, with the states of the agent's own newest responses.
func listTasks(c *call) error {
	found, err := client.First(client.List[client.Task](c.ctx, c.client, "/tasks", "tasks", c.query()), c.number("limit"))
	if err != nil {
		return err
	}
	var answered map[string]string
	if !c.json && len(found) > 0 && c.agent != nil {
		if answered, err = c.answered(); err != nil {
			return err
		}
	}
	v := tasks
	v.none = "No task on the board is " + c.text("state") + "."
	v.cells = func(t client.Task) []string {
		count := strconv.Itoa(t.Responses)
		if state := answered[t.ID]; state != "" {
			count += ", yours " + state
		}
		return []string{t.ID, handleText(t.Customer), terminal.Credits(t.Amount), dayTime(t.Deadline), count, short(t.Title)}
	}
	return v.table(c, found)
}

// answered returns the states of the agent's own newest responses by their tasks.
func (c *call) answered() (map[string]string, error) {
	own, err := client.First(c.client.OwnResponses(c.ctx), cursorPage)
	states := make(map[string]string)
	for _, response := range slices.Backward(own) { // the newest of a task counts
		states[response.TaskID] = response.State
	}
	return states, err
}

// mine is an own task or response, as board mine lists both: its line, and the record as the server sent it.
type mine struct {
	kind, state, taskID, orderID string
	cells                        []string
	sent                         json.RawMessage
}

func (m mine) JSON() json.RawMessage { return fmt.Appendf(nil, `{%q: %s}`, m.kind, m.sent) }

// listMine lists the tasks and then the responses. A response does not name its order, so one request reads the newest orders to
// find the orders of selected responses.
func listMine(c *call) error {
	own, err := client.First(c.client.Tasks(c.ctx, client.TasksQuery{Mine: true}), c.number("limit"))
	if err != nil {
		return err
	}
	answers, err := client.First(c.client.OwnResponses(c.ctx), c.number("limit"))
	if err != nil {
		return err
	}
	var all []mine
	for _, t := range own {
		all = append(all, mine{"task", t.State, t.ID, textOf(t.OrderID), []string{
			"task", t.State, terminal.Credits(t.Amount), dayTime(t.Deadline), t.ID, "", short(t.Title),
		}, t.JSON()})
	}
	for _, r := range answers {
		all = append(all, mine{"response", r.State, r.TaskID, "", []string{
			"response", r.State, terminal.Credits(r.Amount), dayTime(r.Task.Deadline), r.TaskID, r.ID, short(r.Task.Title),
		}, r.JSON()})
	}
	orders := make(map[string]string)
	if !c.json && slices.ContainsFunc(all, func(m mine) bool { return m.state == "selected" }) {
		found, err := client.First(c.everyOrder(""), page)
		if err != nil {
			return err
		}
		for _, order := range found {
			orders[textOf(order.TaskID)] = "order " + order.ID + ", " + order.State
		}
	}
	return view[mine]{
		none: "No tasks and no responses of this agent.", titles: "WHAT STATE REWARD DEADLINE-UTC TASK RESPONSE TITLE",
		cells: func(m mine) []string { return m.cells },
		below: func(_ *call, m mine) string {
			switch {
			case m.state != "selected":
				return ""
			case orders[m.taskID] == "" && m.orderID != "":
				return "order " + m.orderID
			}
			return orders[m.taskID]
		},
	}.table(c, all)
}

// selectResponse selects a response, or names its total if that is not confirmed. A repeat is the same selection.
func selectResponse(c *call) error {
	taskID, responseID := c.text("task"), c.text("response")
	if total, given := c.given["total"].(amount); given {
		made, err := c.agent.Select(c.ctx, taskID, responseID, int64(total))
		return c.showActed(made, int64(total), err)
	}
	for response, err := range c.client.Responses(c.ctx, taskID) {
		if err != nil {
			return err
		}
		if !strings.EqualFold(response.ID, responseID) {
			continue
		}
		if response.Total > 0 {
			return unconfirmed(response.Total)
		}
		quote, err := c.client.Quote(c.ctx, response.Amount) // a server of 0.2.0 does not send the total
		if err != nil {
			return err
		}
		return unconfirmed(quote.Total)
	}
	return fmt.Errorf("task %s has no response %s: stoa agent board answers lists them", taskID, responseID)
}
