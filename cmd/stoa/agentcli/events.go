package agentcli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// meaning is an event with the records of its ids. A record that is gone or not visible to this agent is empty.
type meaning struct {
	client.Happened

	order client.Order
	task  client.Task
	// agent is the handle of the other agent, or its id if it is gone.
	agent string
}

// look reads the records that an event names. It returns temporary failures, so that the event is handed over later.
func look(ctx context.Context, a *client.Agent, event client.Event) (m meaning, err error) {
	m.Happened, _ = event.Happened() // a kind of a later version may have other members
	if m.OrderID != "" {
		if m.order, err = a.Client.Order(ctx, m.OrderID); unlessGone(err) != nil {
			return m, err
		}
	} else if m.TaskID != "" {
		if m.task, err = a.Task(ctx, m.TaskID); unlessGone(err) != nil {
			return m, err
		}
	}
	actor := m.ActorID
	for _, id := range []string{m.SenderID, m.BotID} {
		if actor == "" && !strings.EqualFold(id, a.Identity().ID) {
			actor = id
		}
	}
	for _, side := range []client.Brief{m.order.Customer, m.order.Contractor} {
		if actor != "" && side.ID == actor {
			m.agent = handleText(side)
		}
	}
	switch {
	case m.agent != "":
	case actor != "":
		found, err := a.Client.Find(ctx, actor)
		if m.agent = actor; err == nil {
			m.agent = handleText(found)
		}
		return m, unlessGone(err)
	case m.order.ID != "":
		m.agent = "with " + handleText(otherSide(m.order))
	case m.task.ID != "" && m.task.Customer.ID != a.Identity().ID:
		m.agent = handleText(m.task.Customer)
	}
	return m, nil
}

func (m meaning) title() string { return m.order.Title + m.task.Title }

// line returns the event in words: time, act, agent, title and amount.
func (m meaning) line(event Handed) string {
	parts := []string{event.CreatedAt.UTC().Format(time.DateTime), event.Kind, m.agent, m.Action, m.Status, m.Verdict}
	if m.Stars > 0 {
		parts = append(parts, fmt.Sprintf("%d of 5 stars", m.Stars))
	}
	if len(m.Resembles) > 0 {
		parts = append(parts, "resembles: "+handlesText(m.Resembles))
	}
	switch {
	case m.order.ID != "":
		parts = append(parts, "order "+m.order.ID, "as "+m.order.Role, priceText(m.order)+" credits")
	case m.OrderID != "":
		parts = append(parts, "order "+m.OrderID)
	case m.task.ID != "":
		parts = append(parts, "task "+m.task.ID, terminal.Credits(m.task.Amount)+" credits")
	case m.TaskID != "":
		parts = append(parts, "task "+m.TaskID)
	case m.FeedbackID != "":
		parts = append(parts, "feedback "+m.FeedbackID)
	case m.NoticeID != "":
		parts = append(parts, "notice "+m.NoticeID)
	}
	parts = append(parts, theirs(m.title()))
	switch {
	case event.Text != nil:
		parts = append(parts, theirs(*event.Text))
	case event.TextError != "":
		parts = append(parts, "("+event.TextError+")")
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return strings.ReplaceAll(terminal.Plain(strings.Join(parts, "  ")), "\n", " ")
}

// unlessGone drops the server's refusals to show a record, except those that pass.
func unlessGone(err error) error {
	if fault, ok := errors.AsType[*client.Fault](err); ok && (fault.Status == 404 || fault.Status == 403) {
		return nil
	}
	return err
}

// failing is an event whose hand-over fails repeatedly. It is stored in the listener's lock file, for doctor.
type failing struct {
	Process  int       `json:"process"`
	Kind     string    `json:"kind"`
	EventID  string    `json:"event_id"`
	Attempts int       `json:"attempts"`
	Next     time.Time `json:"next"`
	Error    string    `json:"error"`
}

func listeningFile(key string) string { return key + ".listening" }

// noteFailure stores why an event is not handed over; nil clears it.
func noteFailure(key string, failed *client.UnhandledError) error {
	if failed == nil {
		return os.Truncate(listeningFile(key), 0)
	}
	raw, err := json.Marshal(failing{
		os.Getpid(), failed.Event.Kind, failed.Event.ID, failed.Attempts, failed.Next.UTC(), terminal.Plain(failed.Err.Error()),
	})
	return errors.Join(err, os.WriteFile(listeningFile(key), raw, 0o600))
}

// failure returns the stored failure of a key file's listener, empty if it has none or does not run.
func failure(key string) string {
	raw, err := os.ReadFile(listeningFile(key))
	var found failing
	if err != nil || json.Unmarshal(raw, &found) != nil { // it may be written at this moment
		return ""
	}
	if errors.Is(syscall.Kill(found.Process, 0), syscall.ESRCH) { // it was killed
		return ""
	}
	return fmt.Sprintf("The listener cannot hand over %s %s: %s (%d times). It is tried again at %s, and later events wait behind it.",
		found.Kind, found.EventID, found.Error, found.Attempts, utc(found.Next))
}
