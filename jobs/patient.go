package jobs

import (
	"context"
	"net/http"
	"time"

	"stoa/graph/platform/db"
)

// away is how long the database may take to answer before a failure of the page is taken for its absence.
const away = time.Second

// patient makes 503 of the page's 500 while the database does not answer: that is no defect, and passes.
func patient(database *db.DB, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page.ServeHTTP(&patience{w, database}, r)
	})
}

type patience struct {
	http.ResponseWriter

	database *db.DB
}

// WriteHeader is the page's to call.
func (p *patience) WriteHeader(status int) {
	if status == http.StatusInternalServerError && p.gone() {
		p.Header().Set("Retry-After", "2")
		status = http.StatusServiceUnavailable
	}
	p.ResponseWriter.WriteHeader(status)
}

// Unwrap is http.ResponseController's to call.
func (p *patience) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *patience) gone() bool {
	ctx, cancel := context.WithTimeout(context.Background(), away) // the request's own time may be up
	defer cancel()
	return p.database.Ping(ctx) != nil
}
