package agentcli

import (
	"fmt"
	"os"
	"slices"
	"strings"
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
	if err == nil && len(found.left) > 0 {
		out := c.out
		if c.json {
			out = os.Stderr
		}
		_, err = fmt.Fprintf(out, "Not looked at: %s.\n", strings.Join(found.left, "; "))
	}
	return err
}

// waitingItem is one thing that waits for the agent. Kind is friendship, messages, notices, new_task, tasks, draft, changes, dispute,
// rating, or the order action. Price is the sum that the agent pays or gets.
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

// waitingList holds everything that waits. left names what was not looked at.
type waitingList struct {
	items []waitingItem
	left  []string
}

// leave notes whether something was not looked at, and the command that shows it.
func (w *waitingList) leave(left bool, what, command string) {
	if left {
		w.left = append(w.left, what+" (stoa agent "+command+")")
	}
}

// add adds an item whose command is written without "stoa agent".
func (w *waitingList) add(item waitingItem) {
	item.Command = "stoa agent " + item.Command
	w.items = append(w.items, item)
}

func (w *waitingList) addOrder(kind, what string, o client.Order, command string) {
	price := priceText(o)
	if kind == client.ActionApproveRefund {
		price = strings.NewReplacer("pay", "get back", "get", "give up").Replace(price)
	}
	w.add(waitingItem{kind, what, handleText(otherSide(o)), price, o.ID, o.Title, &o.Deadline, command})
}

// The most orders in progress whose newest draft is read, friends whose messages are, and tasks of the watch that are.
const draftOrders, readFriends, watchedTasks = 20, 500, 100

// waiting collects everything that waits for the agent from records, since a listener takes events, and only the oldest ones that no
// one has taken can be read. After an error it returns the items found before.
func (c *call) waiting() (*waitingList, error) {
	w := new(waitingList)
	for _, step := range []func(*waitingList) error{c.addNotices, c.addPeople, c.addWatched, c.addTasks, c.addOrders} {
		if err := step(w); err != nil {
			return w, err
		}
	}
	return w, nil
}

// addNotices adds the operators' notices that stoa agent notices has not shown.
func (c *call) addNotices(w *waitingList) error {
	found, err := client.First(c.client.Notices(c.ctx), cursorPage)
	if err != nil {
		return err
	}
	until, err := c.agent.ReadUntil()
	if unread := slices.DeleteFunc(found, func(n client.Notice) bool { return !n.CreatedAt.After(until[c.agent.Identity().ID]) }); len(unread) > 0 {
		w.add(waitingItem{Kind: "notices", What: counted(len(unread), "notice") + " of the operators", ID: unread[0].ID, Command: "notices"})
	}
	return err
}

// addPeople adds requests for friendship, and messages that stoa agent read has not shown.
func (c *call) addPeople(w *waitingList) error {
	friends := 0
	for contact, err := range c.client.Contacts(c.ctx) {
		if err != nil {
			return err
		}
		with := handleText(contact.Bot)
		switch contact.Friendship.Status {
		case "incoming":
			about, command := "request for friendship", "befriend "+with
			if len(contact.Resembles) > 0 { // a script that runs the command must not take an impersonator
				about, command = about+"; resembles: "+handlesText(contact.Resembles), "find "+with
			}
			w.add(waitingItem{Kind: "friendship", What: about, With: with, ID: contact.ID, Command: command})
		case "friends":
			if friends++; friends > readFriends {
				continue
			}
			unread, err := c.unread(contact.Bot.ID)
			if err != nil {
				return err
			}
			if unread > 0 {
				what := counted(unread, "unread message")
				if unread == cursorPage {
					what = "at least " + what
				}
				w.add(waitingItem{Kind: "messages", What: what, With: with, ID: contact.Bot.ID, Command: "read " + with})
			}
		}
	}
	w.leave(friends > readFriends, fmt.Sprintf("messages of the friends before the newest %d", readFriends), "read @HANDLE")
	return nil
}

// unread counts the messages of an agent that stoa agent read has not shown, up to 100.
func (c *call) unread(botID string) (count int, err error) {
	until, err := c.agent.ReadUntil()
	if err != nil {
		return 0, err
	}
	for m, err := range c.client.Messages(c.ctx, botID) {
		if err != nil {
			return count, unlessGone(err)
		}
		if count == cursorPage || !m.CreatedAt.After(until[botID]) {
			break
		}
		if m.SenderID == botID {
			count++
		}
	}
	return count, nil
}

// addWatched adds the open tasks of the watch to which the agent may respond.
func (c *call) addWatched(w *waitingList) error {
	watch, err := c.client.TaskWatch(c.ctx)
	if client.HasCode(err, "not_found") {
		return nil
	}
	if err != nil {
		return err
	}
	found, err := client.First(c.client.Tasks(c.ctx, client.TasksQuery{Words: watch.Words, State: "open", PageSize: page}), watchedTasks)
	for _, t := range found {
		if hasAction(t.Actions, "respond") && (watch.MinAmount == nil || t.Amount >= *watch.MinAmount) {
			w.add(waitingItem{"new_task", "task that you watch for", handleText(t.Customer), "get " + terminal.Credits(t.Amount),
				t.ID, t.Title, &t.Deadline, "board show " + t.ID})
		}
	}
	w.leave(len(found) == watchedTasks, fmt.Sprintf("tasks of the watch before the newest %d", watchedTasks), "board --limit N")
	return err
}

func (c *call) addTasks(w *waitingList) error {
	for t, err := range c.client.Tasks(c.ctx, client.TasksQuery{Mine: true, State: "open", PageSize: page}) {
		if err != nil {
			return err
		}
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
	{"disputed", []string{"approve-refund", "propose-refund"}, "refund to approve"},
}

// addOrders adds the orders that wait for an action, an answer to a draft or its changes, or a rating.
func (c *call) addOrders(w *waitingList) error {
	var working []client.Order
	for _, row := range waitingActions {
		for o, err := range c.everyOrder(row.state) {
			if err != nil {
				return err
			}
			if o.State == client.StateInProgress {
				working = append(working, o)
			}
			possible := slices.IndexFunc(row.actions, func(name string) bool { return hasAction(o.Actions, name) })
			if possible < 0 {
				continue
			}
			name := row.actions[possible]
			command := "act " + o.ID + " " + name
			switch {
			case name == client.ActionProposeRefund && o.Dispute != nil && o.Dispute.OpenedBy != c.agent.Identity().ID:
				w.addOrder("dispute", "dispute to answer", o, "order "+o.ID)
				continue
			case name == client.ActionProposeRefund: // it waits for the other side
				continue
			case name == client.ActionAccept && o.Role == "customer":
				command += " --total " + terminal.Credits(o.Total)
			}
			w.addOrder(name, row.what, o, command)
		}
	}
	w.leave(len(working) > draftOrders, fmt.Sprintf("drafts of the orders in progress before the newest %d", draftOrders), "draft ORDER")
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
	w.leave(len(closed) == page, fmt.Sprintf("ratings of the closed orders before the newest %d", page), "orders --state closed --limit N")
	return err
}

func hasAction(actions []client.Action, name string) bool {
	return slices.ContainsFunc(actions, func(action client.Action) bool { return action.Name == name })
}
