package rest

import (
	"net/http"

	"stoa/graph/events"
	"stoa/graph/platform/fault"
)

// EventChannel serves the requests that wait for events (§4.10). It takes their connections over.
type EventChannel interface {
	// ServePoll answers a poll that has found nothing when there is something to answer, or reports that it does not wait.
	ServePoll(w http.ResponseWriter, r *http.Request, wait *events.Wait) (answered bool, err error)
	// ServeStream answers with a stream. An error means that nothing was answered.
	ServeStream(w http.ResponseWriter, r *http.Request, wanted *events.Stream) error
}

// servePoll lets a poll wait that has to, and reports whether it needs no other answer.
func (s *server) servePoll(w http.ResponseWriter, r *http.Request, found *events.Page) (answered bool) {
	if found.Wait == nil {
		return false
	}
	err := error(fault.New(fault.ServiceUnavailable))
	if s.Events != nil {
		answered, err = s.Events.ServePoll(w, r, found.Wait)
	}
	if err != nil {
		s.fail(w, r, err)
	}
	return answered || err != nil
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
