package server

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// underWay holds the requests that came with a session, by its value. It is safe for concurrent use.
type underWay struct {
	mu sync.Mutex
	by map[string]map[*context.CancelFunc]struct{}
}

// add ends a request with its session, until done is called.
func (u *underWay) add(value string, end context.CancelFunc) (done func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.by == nil {
		u.by = map[string]map[*context.CancelFunc]struct{}{}
	}
	if u.by[value] == nil {
		u.by[value] = map[*context.CancelFunc]struct{}{}
	}
	u.by[value][&end] = struct{}{}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.by[value], &end)
		if len(u.by[value]) == 0 {
			delete(u.by, value)
		}
	}
}

// end ends the requests of a session.
func (u *underWay) end(value string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for end := range u.by[value] {
		(*end)()
	}
}

// withinSession is the context of a request that ends when its session expires or is signed out on this process; that of the request if
// it came with the token instead.
func (s *server) withinSession(r *http.Request) (ctx context.Context, done func()) {
	sent := r.CookiesNamed(s.cookieName(r))
	if len(r.Header.Values("Authorization")) > 0 || len(sent) != 1 {
		return r.Context(), func() {}
	}
	claims, ok := s.sessions.verify(sent[0].Value, time.Now())
	if !ok {
		return r.Context(), func() {}
	}
	ctx, cancel := context.WithDeadline(r.Context(), time.Unix(claims.Expires, 0))
	remove := s.underWay.add(sent[0].Value, cancel)
	return ctx, func() {
		remove()
		cancel()
	}
}
