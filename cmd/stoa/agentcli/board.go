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

var tasks = view[client.Task]{
	name: "task", list: "tasks",
	fields: func(c *call, t client.Task) []field {
		return []field{{"id", t.ID}, {"state", t.State}, {"customer", named(t.Customer)},
			{"title", theirs(t.Title)}, {"description", theirs(t.Description)}, {"price", taskPrice(c.agent, t)}, {"deadline", utc(t.Deadline)},
			{"responses", strconv.Itoa(t.Responses)}, {"order", textOf(t.OrderID)}, {"actions", actionNames(t.Actions)}}
	},
	titles: "ID CUSTOMER REWARD DEADLINE-UTC RESPONSES TITLE",
}

func postTask(c *call) error {
	if _, err := c.reward(); err != nil {
		return err
	}
	return request(c, tasks, http.MethodPost, "/tasks", c.body())
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
	if total, given := c.given["total"].(int64); given {
		made, err := c.agent.Select(c.ctx, taskID, responseID, total)
		return c.showActed(made, total, err)
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
