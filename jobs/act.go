package jobs

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

// maxAct is the size of an act's body in bytes.
const maxAct = 64 << 10

// dashboardActs is everything that can be changed on the dashboard. What is not in the table cannot be reached, so there is no
// act without an audit entry.
var dashboardActs = []struct{ pattern, act string }{
	{"POST " + DashboardPath + "/api/jobs/cancel", "cancel"},
	{"POST " + DashboardPath + "/api/jobs/delete", "delete"},
	{"POST " + DashboardPath + "/api/jobs/retry", "retry"},
	{"PUT " + DashboardPath + "/api/queues/{name}/pause", "pauseQueue"},
	{"PUT " + DashboardPath + "/api/queues/{name}/resume", "resumeQueue"},
}

// act is the body of an act on jobs; one on a queue has none, or an empty object.
type act struct {
	IDs []string `json:"ids"`
}

// maxQueueName is the length of a queue's name in characters, River's own limit.
const maxQueueName = 64

// readAct reads the ids of jobs and the name of the queue that an act is about. The audit log keeps them for ever, so nothing else
// gets that far: invalid_input.
func readAct(r *http.Request, raw []byte) (queue string, details map[string]any, err error) {
	var sent act
	if len(raw) > 0 {
		if err := wire.Unmarshal(raw, &sent); err != nil {
			return "", nil, fault.Wrap(fault.InvalidInput, err)
		}
	}
	details = make(map[string]any)
	for _, id := range sent.IDs {
		if _, err := strconv.ParseInt(id, 10, 64); err != nil {
			return "", nil, fault.Wrap(fault.InvalidInput, err)
		}
		details["ids"] = sent.IDs
	}
	queue = r.PathValue("name")
	if _, err := text.Line(queue, 0, maxQueueName); err != nil {
		return "", nil, fault.Wrap(fault.InvalidInput, err)
	}
	return queue, details, nil
}

// audited passes an act on once its audit entry is committed.
func audited(c Config, name string, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAct))
		if err != nil {
			refuseAct(w, fault.Wrap(fault.InvalidInput, err))
			return
		}
		queue, details, err := readAct(r, raw)
		if err != nil {
			refuseAct(w, fault.From(err))
			return
		}
		if err := c.Graph.Operator.AuditJobs(r.Context(), name, queue, details); err != nil {
			known := fault.From(err)
			if known.Code == fault.InternalError {
				c.Logger.ErrorContext(r.Context(), "an act on jobs could not be audited", "act", name, "error", err)
			}
			refuseAct(w, known)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		page.ServeHTTP(w, r)
	})
}

// refuseAct answers in the form that the page shows.
func refuseAct(w http.ResponseWriter, known *fault.Error) {
	raw, err := json.Marshal(map[string]string{"message": known.Text()})
	if err != nil {
		panic(err) // texts always have a form
	}
	if wait := known.Retry(); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(known.Status())
	_, _ = w.Write(raw) // a client that has gone away needs no answer
}
