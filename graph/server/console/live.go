package console

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

const (
	// livePath is the stream of a page that refreshes itself; the parameter of names the tables that the page shows.
	livePath = "/live"
	// liveEvery is how often the tables are asked for changes while a page is watched, by one reader for all pages.
	liveEvery = 2 * time.Second
	// maxLive is how many streams a process has at once.
	maxLive = 32
	// maxLiveTables is how many tables a page may name.
	maxLiveTables = 32
	// liveQuiet is how long a stream says nothing; liveLife how long it lasts before the browser asks again.
	liveQuiet, liveLife = 20 * time.Second, time.Hour
)

const eventStream = "text/event-stream"

// live answers with server-sent events: "changed" when a table that the page shows has changed. It ends with the session, with liveLife
// and with the process. Faults: forbidden from another site, service_unavailable beyond maxLive.
func (s *console) live(w http.ResponseWriter, r *http.Request) error {
	if !ownPage(r) {
		return fault.New(fault.Forbidden)
	}
	tables := strings.Split(r.URL.Query().Get("of"), ",")
	if len(tables) > maxLiveTables {
		return fault.New(fault.InvalidInput)
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", eventStream)
		return nil
	}
	changed, leave := s.watcher.enter(tables)
	if changed == nil {
		return fault.New(fault.ServiceUnavailable).Say("Too many pages refresh themselves at the moment.").After(liveQuiet)
	}
	defer leave()
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // a proxy must not wait for more
	w.WriteHeader(http.StatusOK)
	if !say(w, "retry: 5000\n\n") {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), liveLife)
	defer cancel()
	quiet := time.NewTicker(liveQuiet)
	defer quiet.Stop()
	for {
		text := ":\n\n"
		select {
		case <-ctx.Done():
			return nil
		case _, goesOn := <-changed:
			if !goesOn {
				return nil
			}
			text = "event: changed\ndata:\n\n"
		case <-quiet.C:
		}
		if !say(w, text) {
			return nil
		}
	}
}

// say sends a text at once; false: the client has gone away.
func say(w http.ResponseWriter, text string) bool {
	_, err := w.Write([]byte(text))
	return err == nil && http.NewResponseController(w).Flush() == nil
}

// ownPage reports whether no page of another origin made the browser send a read. Over plain HTTP browsers send neither header with
// the requests of a page to its own origin.
func ownPage(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin := r.Header.Get("Origin")
	parsed, err := url.Parse(origin)
	return origin == "" || err == nil && parsed.Host == r.Host
}

// watcher asks for changes as long as a page is watched, once for all pages. It is safe for concurrent use.
type watcher struct {
	// read returns how often each table has changed.
	read func(context.Context) (map[string]string, error)
	// ended reports whether the process ends.
	ended func() bool

	mu       sync.Mutex
	watching map[*watched]struct{}
	stop     context.CancelFunc
}

// watched is a page: the tables that it shows, and the channel that gets a change.
type watched struct {
	tables  []string
	changed chan struct{}
}

// enter begins to watch tables. changed holds at most one change; it is closed when the process ends, and nil beyond maxLive.
func (w *watcher) enter(tables []string) (changed <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.watching) >= maxLive {
		return nil, nil
	}
	if len(w.watching) == 0 {
		ctx, stop := context.WithCancel(context.Background())
		w.watching, w.stop = map[*watched]struct{}{}, stop
		go w.run(ctx)
	}
	page := &watched{tables, make(chan struct{}, 1)}
	w.watching[page] = struct{}{}
	return page.changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, ok := w.watching[page]; !ok {
			return
		}
		delete(w.watching, page)
		if len(w.watching) == 0 {
			w.stop()
		}
	}
}

// run reads until no page is watched. What cannot be read is read again later.
func (w *watcher) run(ctx context.Context) {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	var before map[string]string
	for {
		if now, err := w.read(ctx); err == nil {
			if before != nil {
				w.notify(ctx, before, now)
			}
			before = now
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if w.ended() {
			w.end(ctx)
			return
		}
	}
}

// notify sends a change to each page whose tables have changed, unless it has not taken an earlier one yet.
func (w *watcher) notify(ctx context.Context, before, now map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil { // the pages are those of another reader
		return
	}
	for page := range w.watching {
		if slices.ContainsFunc(page.tables, func(name string) bool { return before[name] != now[name] }) {
			select {
			case page.changed <- struct{}{}:
			default:
			}
		}
	}
}

// end ends every stream.
func (w *watcher) end(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	for page := range maps.Clone(w.watching) {
		close(page.changed)
		delete(w.watching, page)
	}
	w.stop()
}

// pulse reads how often each table has changed.
func (s *console) pulse(ctx context.Context) (map[string]string, error) {
	ctx = viewer.With(ctx, viewer.Viewer{Kind: viewer.Operator, Name: "console"})
	answer, err := s.ask(ctx, `{ pulse { table changes } }`, nil)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, one := range objects(answer, "pulse") {
		found[textOf(one, "table")] = plainNumber(one["changes"])
	}
	return found, nil
}
