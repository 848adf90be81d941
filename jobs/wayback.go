package jobs

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// opening redirects from the dashboard's address to the jobs that failed for good within a day, else to the failed jobs that are
// tried again, else to the waiting ones.
func opening(database *db.DB) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
		defer cancel()
		states, err := db.Column[string](ctx, database.SQL, named("select_opening"))
		if err != nil {
			refuseAction(w, fault.From(err))
			return
		}
		w.Header().Set("Location", DashboardPath+"/jobs?state="+states[0])
		w.WriteHeader(http.StatusSeeOther)
	})
}

// wayBack leads from the dashboard, which draws its own navigation, to the console.
const wayBack = `<nav aria-label="Console"><a href="/" style="position:fixed;inset-inline-end:1rem;bottom:1rem;z-index:99;padding:.5rem .9rem;border:1px solid;border-radius:.4rem;` +
	`background:Canvas;color:LinkText;font:600 .9375rem system-ui,sans-serif;color-scheme:light dark">Back to the console</a></nav>`

// withWayBack adds wayBack to the pages of the dashboard; it leaves data and assets unchanged.
func withWayBack(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, DashboardPath+"/api/") || strings.HasPrefix(r.URL.Path, DashboardPath+"/assets/") {
			page.ServeHTTP(w, r)
			return
		}
		kept := &keptPage{ResponseWriter: w, status: http.StatusOK}
		page.ServeHTTP(kept, r)
		body := kept.body.Bytes()
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			body = bytes.Replace(body, []byte("</body>"), []byte(wayBack+"</body>"), 1)
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		w.WriteHeader(kept.status)
		_, _ = w.Write(body) // a client that has gone away needs no answer
	})
}

// keptPage keeps a page in memory.
type keptPage struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

func (k *keptPage) WriteHeader(status int) { k.status = status }

func (k *keptPage) Write(p []byte) (int, error) { return k.body.Write(p) }
