package events

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// PollInput is the query of a poll.
type PollInput struct {
	// Wait is the number of seconds that the request waits for an event if it finds none: 0 to 50, 0 unless sent.
	Wait page.Param `query:"wait" json:"-"`
	// Limit is how many events are returned at most: 1 to 100, 50 unless sent.
	Limit page.Param `query:"limit" json:"-"`
	// Version of the channel, 1 unless sent.
	Version page.Param `query:"version" json:"-"`
	// Own is true by default. If it is false, the caller's own acts are acknowledged instead of returned.
	Own page.Param `query:"own" json:"-"`
}

// The ranges of the parameters.
var (
	waitRange    = page.Range{Absent: 0, Least: 0, Most: 50}
	limitRange   = page.Range{Absent: 50, Least: 1, Most: 100}
	versionRange = page.Range{Absent: FirstVersion, Least: FirstVersion, Most: LatestVersion}
)

// check returns how long to wait and for which events. It does not set the agent.
func (in PollInput) check() (w Wait, err error) {
	seconds, err := page.Integer(fault.InvalidInput, "wait", in.Wait, waitRange)
	if err != nil {
		return w, err
	}
	limit, err := page.Integer(fault.InvalidInput, "limit", in.Limit, limitRange)
	if err != nil {
		return w, err
	}
	of, err := StreamInput{Version: in.Version, Own: in.Own}.check()
	w.Length, w.Cursor = time.Duration(seconds)*time.Second, Cursor{Version: of.Version, Size: int(limit), SkipOwn: of.SkipOwn}
	return w, err
}

// Card is an unacknowledged event.
type Card struct {
	EventID   uuid.UUID      `json:"event_id"`
	Kind      string         `json:"kind"`
	Payload   wire.RawObject `json:"payload"`
	CreatedAt time.Time      `json:"created_at"`
}

// Page holds the oldest unacknowledged events.
type Page struct {
	Events []*Card `json:"events"`
	// More reports that there are more events after them.
	More bool `json:"more"`
	// OtherListeners counts the agent's open connections to the event channel. Polls do not return events that these acknowledge.
	OtherListeners int `json:"-"`
	// Wait is the wait before the transport answers; nil if it answers at once.
	Wait *Wait `json:"-"`
}

// Wait is a poll that has found nothing so far.
type Wait struct {
	Agent viewer.Viewer
	// Cursor of the poll; it holds the limit.
	Cursor Cursor
	// Length is how long the poll waits, up to 50 s.
	Length time.Duration
}

// PollEvents returns the caller's oldest unacknowledged events (§4.10). If own is false, it acknowledges the caller's own acts up
// to the last event that it reads; otherwise it acknowledges nothing. If it finds no event and the caller wants to wait, it sets
// Page.Wait. The transport waits, so that no goroutine waits with the request. Only an agent may call it. Fault: invalid_input.
func (a *API) PollEvents(ctx context.Context, in PollInput) (*Page, error) {
	v, wait, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	wait.Agent, wait.Cursor.Recipient = v, v.BotID
	found, err := ReadPage(ctx, wait.Cursor, a.Fetch)
	if err != nil {
		return nil, err
	}
	if len(found.Events) == 0 && wait.Length > 0 {
		found.Wait = &wait
	}
	found.OtherListeners, err = db.Value[int](ctx, a.DB.SQL, named("count_slots"), v.BotID)
	return found, err
}

// skippingSize is the minimum batch of a poll that skips own acts, so that many own acts in a row cost few statements.
const skippingSize = 16

// ReadPage reads the page of a poll's cursor with fetch.
func ReadPage(ctx context.Context, c Cursor, fetch func(context.Context, Cursor) (Batch, error)) (*Page, error) {
	found, limit := &Page{Events: []*Card{}}, c.Size
	for {
		c.Size = limit + 1 - len(found.Events) // one extra, to find out whether there are more
		if c.SkipOwn {
			c.Size = max(c.Size, skippingSize)
		}
		batch, err := fetch(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, e := range batch.Events {
			found.Events = append(found.Events, &Card{e.ID, string(e.Kind), e.AppendPayload(nil), e.CreatedAt})
		}
		if found.More = len(found.Events) > limit; found.More {
			found.Events = found.Events[:limit]
			return found, nil
		}
		if !batch.More {
			return found, nil
		}
		c.After = batch.Last // some of the batch may have been left out
	}
}

// StreamInput selects the events of a stream.
type StreamInput struct {
	// Version of the channel, 1 unless sent.
	Version page.Param `query:"version" json:"-"`
	// Own is true by default. If it is false, the caller's own acts are acknowledged instead of sent.
	Own page.Param `query:"own" json:"-"`
	// LastEventID is the event after which the stream resumes; empty for none.
	LastEventID string `header:"Last-Event-ID" json:"-"` //nolint:tagliatelle // its name in the standard
}

// Stream is a checked StreamInput.
type Stream struct {
	Agent   viewer.Viewer
	Version int
	// SkipOwn acknowledges the agent's own acts instead of sending them.
	SkipOwn bool
	// Behind is the event after which the stream resumes; uuid.Nil for none.
	Behind uuid.UUID
}

// check returns which events to send. It does not set the agent. It ignores a LastEventID that is not an id, because clients
// repeat any id that they have seen.
func (in StreamInput) check() (of Stream, err error) {
	version, err := page.Integer(fault.InvalidInput, "version", in.Version, versionRange)
	if err != nil {
		return of, err
	}
	own, err := page.Flag(fault.InvalidInput, "own", in.Own, true)
	if behind, err := text.UUID(in.LastEventID); err == nil {
		of.Behind = behind
	}
	of.Version, of.SkipOwn = int(version), !own
	return of, err
}

// StreamEvents checks the request for a stream of the caller's events (§4.10). The transport sends the stream. Only an agent may
// call it. Fault: invalid_input.
func (*API) StreamEvents(ctx context.Context, in StreamInput) (*Stream, error) {
	v, of, err := viewer.Checked(ctx, in.check)
	if err != nil {
		return nil, err
	}
	of.Agent = v
	return &of, nil
}
