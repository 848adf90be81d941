package agentcli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

func showWaiting(c *call) error {
	found, err := c.waiting()
	if err != nil {
		return err
	}
	err = view[waitingItem]{
		none: "Nothing waits for this agent.", titles: "WHAT WITH PRICE DEADLINE-UTC TITLE COMMAND",
		cells: func(w waitingItem) []string {
			until := ""
			if w.Deadline != nil {
				until = dayTime(*w.Deadline)
			}
			return []string{w.What, w.With, w.Price, until, short(w.Title), w.Command}
		},
	}.table(c, found.items)
	if err == nil && found.more && !c.json {
		_, err = fmt.Fprintln(c.out, "There may be more: only the newest of each kind were looked at.")
	}
	return err
}

// waitingItem is one thing that waits for the agent. Kind is friendship, messages, new_task, tasks, draft, changes, rating, or the
// order action. Price is the sum that the agent pays or gets.
type waitingItem struct {
	Kind     string     `json:"kind"`
	What     string     `json:"what"`
	With     string     `json:"with,omitempty"`
	Price    string     `json:"price,omitempty"`
	ID       string     `json:"id"`
	Title    string     `json:"title,omitempty"`
	Deadline *time.Time `json:"deadline,omitempty"`
	Command  string     `json:"command"`
}

// waitingList holds everything that waits. more reports whether something was not checked.
type waitingList struct {
	items []waitingItem
	more  bool
}

// add adds an item whose command is written without "stoa agent".
func (w *waitingList) add(item waitingItem) {
	item.Command = "stoa agent " + item.Command
	w.items = append(w.items, item)
}

func (w *waitingList) addOrder(kind, what string, o client.Order, command string) {
	w.add(waitingItem{kind, what, handleText(otherSide(o)), priceText(o), o.ID, o.Title, &o.Deadline, command})
}

// draftOrders is the most orders in progress whose newest draft is read.
const draftOrders = 20

// waiting collects everything that waits for the agent. It makes at most 52 requests, most of them for drafts and ratings. After
// an error it returns the items found before.
func (c *call) waiting() (*waitingList, error) {
	w := new(waitingList)
	for _, step := range []func(*waitingList) error{c.addPeople, c.addTasks, c.addOrders} {
		if err := step(w); err != nil {
			return w, err
		}
	}
	return w, nil
}

// addPeople adds requests for friendship, and messages that stoa agent read has not shown: messages that no listener has handed
// over, and messages that a hook took.
func (c *call) addPeople(w *waitingList) error {
	contacts, err := client.First(c.client.Contacts(c.ctx), cursorPage)
	if err != nil {
		return err
	}
	handles := make(map[string]string)
	for _, contact := range contacts {
		handles[contact.Bot.ID] = handleText(contact.Bot)
		if contact.Friendship.Status == "incoming" {
			with := handleText(contact.Bot)
			about, command := "request for friendship", "befriend "+with
			if len(contact.Resembles) > 0 { // a script that runs the command must not take an impersonator
				about, command = about+"; resembles: "+handlesText(contact.Resembles), "find "+with
			}
			w.add(waitingItem{Kind: "friendship", What: about, With: with, ID: contact.ID, Command: command})
		}
	}
	events, more, err := c.client.Poll(c.ctx, 0, 2, true) // it acknowledges nothing
	if err != nil {
		return err
	}
	w.more = w.more || more || len(contacts) == cursorPage
	until, err := c.agent.ReadUntil()
	if err != nil {
		return err
	}
	unread := make(map[string]int)
	var senders []string
	for _, event := range events {
		happened, err := event.Happened()
		if event.Kind != client.MessageCreated || err != nil || happened.Message == nil {
			continue
		}
		sender := happened.SenderID
		if !happened.Message.CreatedAt.After(until[sender]) {
			continue
		}
		if unread[sender] == 0 {
			senders = append(senders, sender)
		}
		unread[sender]++
	}
	hooked, err := hookedMessages(c.Key)
	if err != nil {
		return err
	}
	for _, sender := range slices.Sorted(maps.Keys(hooked)) {
		if unread[sender] == 0 {
			senders = append(senders, sender)
		}
	}
	for _, sender := range senders {
		with, what := cmp.Or(handles[sender], sender), counted(unread[sender]+hooked[sender], "unread message")
		if n := hooked[sender]; n > 0 {
			what += fmt.Sprintf(" (a hook took %d)", n)
		}
		w.add(waitingItem{Kind: "messages", What: what, With: with, ID: sender, Command: "read " + with})
	}
	return c.addPosted(w, events)
}

// maxPosted is the most tasks of the watch that are read.
const maxPosted = 10

// addPosted adds the open tasks that the watch announced, unless the agent has responded.
func (c *call) addPosted(w *waitingList, events []client.Event) error {
	events = slices.DeleteFunc(events, func(e client.Event) bool { return e.Kind != client.TaskPosted })
	if len(events) == 0 {
		return nil
	}
	answered, err := c.answered()
	if err != nil {
		return err
	}
	w.more = w.more || len(events) > maxPosted
	for _, event := range events[max(0, len(events)-maxPosted):] {
		found, err := look(c.ctx, c.agent, event)
		if err != nil {
			return err
		}
		if t := found.task; t.State == "open" && answered[t.ID] == "" {
			w.add(waitingItem{"new_task", "new task that you watch for", handleText(t.Customer), "get " + terminal.Credits(t.Amount),
				t.ID, t.Title, &t.Deadline, "board show " + t.ID})
		}
	}
	return nil
}

func (c *call) addTasks(w *waitingList) error {
	tasks, err := client.First(c.client.Tasks(c.ctx, client.TasksQuery{Mine: true, State: "open", PageSize: page}), page)
	if err != nil {
		return err
	}
	w.more = w.more || len(tasks) == page
	for _, t := range tasks {
		if t.Responses > 0 {
			w.add(waitingItem{"tasks", counted(t.Responses, "answer") + " to choose from", "", "", t.ID, t.Title, &t.Deadline,
				"board answers " + t.ID})
		}
	}
	return nil
}

// waitingActions maps the state of an order and the possible actions to the wait; in each row the first possible action counts.
var waitingActions = []struct {
	state   string
	actions []string
	what    string
}{
	{"offered", []string{"accept", "reject"}, "offer to answer"},
	{"funded", []string{"start"}, "work to start"},
	{"in_progress", []string{"deliver"}, "work to deliver"},
	{"delivered", []string{"complete"}, "delivery to complete"},
	{"disputed", []string{"approve-refund"}, "refund to approve"},
}

// addOrders adds the orders that wait for an action, an answer to a draft or its changes, or a rating.
func (c *call) addOrders(w *waitingList) error {
	var working []client.Order
	for _, row := range waitingActions {
		orders, err := client.First(c.everyOrder(row.state), page)
		if err != nil {
			return err
		}
		w.more = w.more || len(orders) == page
		for _, o := range orders {
			possible := slices.IndexFunc(row.actions, func(name string) bool { return hasAction(o, name) })
			if possible >= 0 {
				name := row.actions[possible]
				command := "act " + o.ID + " " + name
				if name == client.ActionAccept && o.Role == "customer" {
					command += " --total " + terminal.Credits(o.Total)
				}
				w.addOrder(name, row.what, o, command)
			}
			if o.State == client.StateInProgress {
				working = append(working, o)
			}
		}
	}
	w.more = w.more || len(working) > draftOrders
	for _, o := range working[:min(len(working), draftOrders)] {
		newest, err := c.newestDraft(o.ID)
		if err != nil {
			return err
		}
		switch customer := o.Role == "customer"; {
		case newest == nil:
		case customer && newest.Reply == nil:
			w.addOrder("draft", "draft to answer", o, "draft "+o.ID)
		case !customer && newest.Reply != nil && newest.Reply.Verdict == "changes":
			w.addOrder("changes", "changes to the draft", o, "draft "+o.ID)
		}
	}
	closed, err := client.First(c.everyOrder(client.StateClosed), page)
	if err != nil {
		return err
	}
	due, err := c.agent.RatingsDue(c.ctx, closed)
	for _, o := range closed {
		if due[o.ID] {
			w.add(waitingItem{"rating", "order to rate", handleText(otherSide(o)), "", o.ID, o.Title, nil, "rate " + o.ID + " STARS"})
		}
	}
	w.more = w.more || len(closed) == page
	return err
}

func hasAction(o client.Order, name string) bool {
	return slices.ContainsFunc(o.Actions, func(action client.Action) bool { return action.Name == name })
}
