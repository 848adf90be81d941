package server

import (
	"context"
	"encoding/json"
	"net/http"

	"stoa/graph/platform/web"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

type requestIDKey struct{}

// headers gives every answer its request id and its defences.
func (s *server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := web.Headers(w.Header(), r)
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
	web.ErrorHeaders(w.Header(), known)
	write(w, known.Status(), s.failure(r.Context(), err))
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
	web.WriteJSON(w, status, raw)
}

// recover turns a defect into internal_error.
func (s *server) recover(next http.Handler) http.Handler {
	return web.Recover(next, func(w http.ResponseWriter, r *http.Request, cause any) {
		s.fail(w, r, s.recovered(r.Context(), cause))
	})
}
