package endpoint

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"strconv"

	"github.com/google/uuid"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"stoa/graph/fault"
)

const requestIDHeader = "X-Request-Id"

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

type requestIDKey struct{}

// headers gives every answer its request id and its defences.
func (s *server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if !requestIDPattern.MatchString(id) {
			id = uuid.NewString()
		}
		w.Header().Set(requestIDHeader, id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id)))
	})
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// fail answers a request of which nothing was run.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := faultOf(r.Context(), err)
	retryAfter(w, known)
	if known.Code == fault.Unauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	write(w, known.Status(), s.failure(r.Context(), err))
}

// retryAfter says when to try again, where waiting helps.
func retryAfter(w http.ResponseWriter, known *fault.Error) {
	if wait := known.Retry(); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}

// refusal is the answer to a request of which nothing was run; it has no data.
type refusal struct {
	Errors gqlerror.List `json:"errors"`
}

func (s *server) failure(ctx context.Context, err error) refusal {
	return refusal{Errors: gqlerror.List{s.present(ctx, err)}}
}

func write(w http.ResponseWriter, status int, answer any) {
	raw, err := json.Marshal(answer)
	if err != nil {
		panic(err) // an answer is made of what gqlgen has written already
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that has gone away needs no answer
}

// recover turns a defect into internal_error instead of a cut connection.
func (s *server) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause)
			default:
				s.fail(w, r, s.recovered(r.Context(), cause))
			}
		}()
		next.ServeHTTP(w, r)
	})
}
