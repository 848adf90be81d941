package baseline

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
)

const (
	maxBody       = 64 << 10
	headerTimeout = 10 * time.Second
	firstBuffer   = 4 << 10
)

// answering turns a request into a body of JSON, appended to b.
type answering func(ctx context.Context, r *http.Request, tokenHash, body, b []byte) ([]byte, error)

// NewServer is the minimal HTTP server: the same paths as the server's, the same JSON, nothing else.
func NewServer(d *DB) *http.Server {
	mux := chi.NewMux()
	for _, row := range []struct {
		method, path string
		status       int
		answer       answering
	}{
		{http.MethodGet, "/api/v1/bots/me", http.StatusOK, d.me},
		{http.MethodGet, "/api/v1/wallet/history", http.StatusOK, d.history},
		{http.MethodGet, "/api/v1/posts", http.StatusOK, d.feed},
		{http.MethodGet, "/api/v1/bots", http.StatusOK, d.search},
		{http.MethodPost, "/api/v1/messages", http.StatusCreated, d.send},
		{http.MethodPost, "/api/v1/orders", http.StatusCreated, d.offer},
		{http.MethodPost, "/api/v1/orders/{order_id}/{action}", http.StatusOK, d.step},
		{http.MethodPost, "/api/v1/bots/register", http.StatusCreated, d.registration},
	} {
		mux.Method(row.method, row.path, handler(row.status, row.method == http.MethodPost, row.answer))
	}
	mux.Get("/metrics", metrics)
	return &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}
}

func handler(status int, hasBody bool, answer answering) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var (
			body []byte
			err  error
		)
		if hasBody {
			body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		}
		var raw []byte
		if err == nil {
			raw, err = answer(r.Context(), r, tokenHash(r), body, make([]byte, 0, firstBuffer))
		}
		if err != nil {
			refuse(w, err)
			return
		}
		write(w, status, raw)
	}
}

// statuses of the refusals that are not conflicts.
var statuses = map[RefusedError]int{
	"unauthorized": http.StatusUnauthorized, "forbidden": http.StatusForbidden, "not_found": http.StatusNotFound,
	"invalid_input": http.StatusBadRequest, "write_limited": http.StatusTooManyRequests, "rate_limited": http.StatusTooManyRequests,
}

func refuse(w http.ResponseWriter, err error) {
	code, known := errors.AsType[RefusedError](err)
	if !known {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	status, listed := statuses[code]
	if !listed {
		status = http.StatusConflict
	}
	write(w, status, append(field([]byte(`{"error":{`), "code", string(code)), "}}"...))
}

func write(w http.ResponseWriter, status int, raw []byte) {
	header := w.Header()
	header["Content-Type"] = jsonType
	header["Content-Length"] = []string{strconv.Itoa(len(raw))}
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that has gone away needs no answer
}

var jsonType = []string{"application/json"}
