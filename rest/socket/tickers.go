package socket

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
)

const (
	// defaultPingInterval is the interval of a socket's pings (§6). A stream is pinged twice as often, so a round takes half of
	// it.
	defaultPingInterval                = 30 * time.Second
	socketPingRounds, streamPingRounds = 2, 1

	tokenPeriod    = 500 * time.Millisecond // the time by which a connection outlives its token if a notice is lost; §6 allows a second
	activityPeriod = time.Minute            // the interval at which an open connection counts as activity (§3.4)
	processPeriod  = time.Second            // the time in which the end of a process is detected
	horizonPeriod  = time.Second            // the interval at which the horizon is advanced
)

// every returns a function that calls fn once a period, and whenever asked has a token, until its context ends.
func every(period time.Duration, asked <-chan struct{}, fn func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-asked:
			case <-ticker.C:
			}
			fn(ctx)
		}
	}
}

// pause waits, but not beyond the end of ctx.
func pause(ctx context.Context, wait time.Duration) {
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
}

// try runs a statement and logs its failure.
func (h *Hub) try(ctx context.Context, failure string, statement func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	if err := statement(ctx); err != nil {
		h.warnLimited(failure, err)
	}
}

// pingPeers runs a round of pings to the sessions' clients.
func (h *Hub) pingPeers(context.Context) {
	h.round++
	for _, s := range h.all() {
		if s.pingRounds > 0 && h.round%s.pingRounds == 0 {
			s.schedule(pending{ping: true})
		}
	}
}

// checkTokens closes connections whose token has ended.
func (h *Hub) checkTokens(ctx context.Context) {
	sessions := h.all()
	if len(sessions) == 0 {
		return
	}
	tokens := make([]uuid.UUID, len(sessions))
	for i, s := range sessions {
		tokens[i] = s.slot.TokenID
	}
	h.try(ctx, "event socket cannot check its tokens", func(ctx context.Context) error {
		ended, err := h.Graph.Auth.EndedTokens(ctx, tokens)
		if len(ended) == 0 {
			return err
		}
		texts, unknown := h.Graph.Auth.EndingTexts(ctx, ended)
		for i, s := range sessions {
			if slices.Contains(ended, tokens[i]) {
				s.close(errEnded.say(texts[tokens[i]]))
			}
		}
		return errors.Join(err, unknown)
	})
}

// noteActivity counts an open connection as activity of its agent.
func (h *Hub) noteActivity(ctx context.Context) {
	h.mu.RLock()
	bots := slices.Collect(maps.Keys(h.sessions))
	h.mu.RUnlock()
	h.try(ctx, "event socket cannot note activity", func(ctx context.Context) error {
		return h.Graph.Auth.NoteActivity(ctx, bots)
	})
}

// watchProcesses checks which processes are live. If one has ended, every session reads everything again, because that process
// may have ended between a commit and its notice.
func (h *Hub) watchProcesses(ctx context.Context) {
	h.try(ctx, "event socket cannot see the processes", func(ctx context.Context) error {
		live, err := h.Graph.Events.Processes(ctx)
		if err != nil {
			return err
		}
		h.queue.alone.Store(h.process.Load() != 0 && len(live) == 1)
		if slices.ContainsFunc(h.known, func(process int32) bool { return !slices.Contains(live, process) }) {
			h.scheduleAll(pending{recheck: true})
		}
		h.known = live
		h.counts.processes.Store(int64(len(live)))
		return nil
	})
}

// advanceHorizon advances the horizon of the sessions. After a new connection to the other processes it begins again at 0 and every
// session reads everything again.
func (h *Hub) advanceHorizon(ctx context.Context) {
	if h.restart.Swap(false) {
		h.progress = events.Horizon{}
		h.horizon.Store(0)
		h.scheduleAll(pending{recheck: true})
	}
	if len(h.all()) == 0 {
		return
	}
	h.try(ctx, "event socket cannot advance its horizon", func(ctx context.Context) (err error) {
		h.progress, err = h.Graph.Events.Advance(ctx, h.progress)
		h.horizon.Store(h.progress.Settled)
		return err
	})
}
