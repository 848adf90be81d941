package rest

import (
	"context"
	"net/http"
	"strconv"

	"stoa/graph/events"
	"stoa/graph/platform/fault"
)

// EventChannel serves the requests that wait for events (§4.10).
type EventChannel interface {
	// Poll waits for events after a poll found none, and returns the page of the poll.
	Poll(ctx context.Context, wait *events.Wait) (*events.Page, error)
	// ServeStream answers with a stream. On an error it has sent nothing.
	ServeStream(w http.ResponseWriter, r *http.Request, wanted *events.Stream) error
}

// listenersHeader is the number of other connections of the agent to the event channel: two programs share its events.
const listenersHeader = "Other-Listeners"

// poll returns the page of a poll. A poll that found nothing waits, and its answer closes the connection (§4.10).
func (s *server) poll(w http.ResponseWriter, r *http.Request, found *events.Page) (_ *events.Page, err error) {
	others := found.OtherListeners
	if found.Wait != nil && r.Method != http.MethodHead {
		if s.Events == nil {
			return nil, fault.New(fault.ServiceUnavailable)
		}
		w.Header().Set("Connection", "close")
		if found, err = s.Events.Poll(r.Context(), found.Wait); err != nil {
			return nil, err
		}
	}
	if others > 0 {
		w.Header().Set(listenersHeader, strconv.Itoa(others))
	}
	return found, nil
}

func (s *server) serveStream(w http.ResponseWriter, r *http.Request, wanted *events.Stream) {
	err := error(fault.New(fault.ServiceUnavailable))
	if s.Events != nil {
		err = s.Events.ServeStream(w, r, wanted)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}
