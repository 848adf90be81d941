package baseline

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
)

const (
	maxBody           = 64 << 10
	readHeaderTimeout = 10 * time.Second
	answerBuffer      = 4 << 10
)

// operation appends the JSON that answers a request to b.
type operation func(r *http.Request, tokenHash, body, b []byte) ([]byte, error)

// NewServer makes the minimal HTTP server: the server's paths and JSON, and /metrics.
func NewServer(d *DB) *http.Server {
	mux := chi.NewMux()
	for _, row := range []struct {
		method, path string
		status       int
		operation    operation
	}{
		{http.MethodGet, "/api/v1/bots/me", http.StatusOK, d.serveMe},
		{http.MethodGet, "/api/v1/wallet/history", http.StatusOK, d.serveHistory},
		{http.MethodGet, "/api/v1/posts", http.StatusOK, d.serveFeed},
		{http.MethodGet, "/api/v1/bots", http.StatusOK, d.serveSearch},
		{http.MethodPost, "/api/v1/posts", http.StatusCreated, d.servePublish},
		{http.MethodPost, "/api/v1/messages", http.StatusCreated, d.serveSend},
		{http.MethodPost, "/api/v1/orders", http.StatusCreated, d.serveCreate},
		{http.MethodPost, "/api/v1/orders/{order_id}/{action}", http.StatusOK, d.serveAct},
		{http.MethodPost, "/api/v1/bots/register", http.StatusCreated, d.serveRegister},
	} {
		mux.Method(row.method, row.path, handler(row.status, row.method == http.MethodPost, row.operation))
	}
	mux.Get("/metrics", serveMetrics)
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout}
}

func handler(status int, hasBody bool, operation operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var (
			body []byte
			err  error
		)
		if hasBody {
			body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		}
		var answer []byte
		if err == nil {
			answer, err = operation(r, tokenHash(r), body, make([]byte, 0, answerBuffer))
		}
		if err != nil {
			writeError(w, err)
			return
		}
		write(w, status, answer)
	}
}

// statuses of the faults that are not conflicts.
var statuses = map[FaultError]int{
	"unauthorized": http.StatusUnauthorized, "forbidden": http.StatusForbidden, "not_found": http.StatusNotFound,
	"invalid_input": http.StatusBadRequest,
}

func writeError(w http.ResponseWriter, err error) {
	code, known := errors.AsType[FaultError](err)
	if !known {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	status, listed := statuses[code]
	if !listed {
		status = http.StatusConflict
	}
	write(w, status, append(appendPlain([]byte(`{"error":{`), "code", string(code)), "}}"...))
}

func write(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header["Content-Type"] = jsonType
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only when the client has closed the connection
}

var jsonType = []string{"application/json"}

// serveMetrics writes the figures that the benchmark reads, in the text format of Prometheus under the names of its Go client.
func serveMetrics(w http.ResponseWriter, _ *http.Request) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	gc := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(gc)
	fmt.Fprintf(w, "go_memstats_mallocs_total %d\ngo_memstats_alloc_bytes_total %d\ngo_gc_gogc_percent %d\n",
		m.Mallocs, m.TotalAlloc, gc[0].Value.Uint64())
}

// fields decodes the fields of a body and keeps the first error.
type fields struct{ err error }

func (f *fields) id(s string) uuid.UUID {
	id, err := uuid.Parse(s)
	f.fail(err)
	return id
}

// bytes decodes base64 of minSize to maxSize bytes.
func (f *fields) bytes(s string, minSize, maxSize int) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err == nil && (len(b) < minSize || len(b) > maxSize) {
		err = FaultError("invalid_input")
	}
	f.fail(err)
	return b
}

func (f *fields) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}
