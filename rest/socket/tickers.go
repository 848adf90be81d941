package socket

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/slack"
)

const (
	// defaultPingInterval is how often a socket is pinged, and a stream twice as often (§6). Each of pingRounds parts of the interval is
	// for a part of them.
	defaultPingInterval = 30 * time.Second
	pingRounds          = 30
	// tokenPeriod bounds how long a connection outlives its token where a notice was lost; §6 allows a second.
	tokenPeriod = 500 * time.Millisecond
	// activityPeriod is how often an open connection counts as activity (§3.4).
	activityPeriod = time.Minute
	// processPeriod is how long the death of a process goes unnoticed.
	processPeriod = time.Second
	// horizonPeriod is how often the horizon is advanced.
	horizonPeriod = time.Second
	// agentsAtOnce is how many agents or tokens one statement names.
	agentsAtOnce = 5000
)

// statementTimeout bounds each statement here, and the acknowledgements. It is longer than the statement_timeout of a session, so
// PostgreSQL, too, has done by then with a statement whose answer is lost.
var statementTimeout = slack.Of(5 * time.Second)

// every calls fn in each period until ctx ends.
func every(ctx context.Context, period time.Duration, fn func(context.Context)) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			fn(ctx)
		}
	}
}

// pingPeers pings every socket once in each interval and every stream twice.
func (h *Hub) pingPeers(ctx context.Context) {
	round := 0
	every(ctx, h.PingInterval/pingRounds, func(context.Context) {
		for _, r := range h.inPingRound(round) {
			r.schedule(pending{ping: true})
		}
		round = (round + 1) % pingRounds
	})
}

// recheckTokens makes checkTokens look at once.
func (h *Hub) recheckTokens() {
	select {
	case h.recheck <- struct{}{}:
	default:
	}
}

// checkTokens closes connections whose token has ended, when it is notified and at least every tokenPeriod.
func (h *Hub) checkTokens(ctx context.Context) {
	ticker := time.NewTicker(tokenPeriod)
	defer ticker.Stop()
	var held []uuid.UUID // reused: a new one twice a second would be most of the garbage of an idle server
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.recheck:
		case <-ticker.C:
		}
		held = h.tokensHeld(held[:0])
		h.closeEnded(ctx, held)
	}
}

func (h *Hub) closeEnded(ctx context.Context, held []uuid.UUID) {
	h.inBatches(ctx, "event socket cannot check its tokens", held, func(ctx context.Context, some []uuid.UUID) error {
		ended, err := h.Graph.Auth.EndedTokens(ctx, some)
		if len(ended) == 0 {
			return err
		}
		texts, unknown := h.Graph.Auth.EndingTexts(ctx, ended)
		over := make(map[uuid.UUID]closeReason, len(ended))
		for _, token := range ended {
			over[token] = errEnded.say(texts[token])
		}
		for _, r := range h.all() {
			if reason, ok := over[r.place().TokenID]; ok {
				r.close(reason)
			}
		}
		return errors.Join(err, unknown)
	})
}

// noteActivity counts an open connection as activity of its agent.
func (h *Hub) noteActivity(ctx context.Context) {
	var bots []uuid.UUID
	h.mu.RLock()
	for bot := range h.receivers {
		bots = append(bots, bot)
	}
	h.mu.RUnlock()
	h.inBatches(ctx, "event socket cannot note activity", bots, h.Graph.Auth.NoteActivity)
}

// watchProcesses finds out whether there are other processes. When one has ended, every session reads everything again, because that
// process may have ended between a commit and its notice.
func (h *Hub) watchProcesses(ctx context.Context) {
	var known []int32
	every(ctx, processPeriod, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, statementTimeout)
		defer cancel()
		live, err := h.Graph.Events.Processes(ctx)
		if err != nil {
			h.warnLimited("event socket cannot see the processes", err)
			return
		}
		h.mu.RLock()
		connected := h.process != 0
		h.mu.RUnlock()
		h.queue.setAlone(connected && len(live) == 1)
		if slices.ContainsFunc(known, func(process int32) bool { return !slices.Contains(live, process) }) {
			h.scheduleAll(pending{recheck: true})
		}
		known = live
		h.counts.processes.Store(int64(len(live)))
	})
}

// advanceHorizon advances the horizon of the sessions. After a new connection to the other processes it begins again at 0 and every
// session reads everything again.
func (h *Hub) advanceHorizon(ctx context.Context) {
	ticker := time.NewTicker(horizonPeriod)
	defer ticker.Stop()
	var horizon events.Horizon
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.reconnected:
			horizon = events.Horizon{}
			h.horizon.Store(0)
			h.scheduleAll(pending{recheck: true})
		case <-ticker.C:
		}
		if h.count() == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, statementTimeout)
		next, err := h.Graph.Events.Advance(ctx, horizon)
		cancel()
		if err != nil {
			h.warnLimited("event socket cannot advance its horizon", err)
			continue
		}
		horizon = next
		h.horizon.Store(horizon.Settled)
	}
}

// inBatches calls fn with some of the ids at a time; one failure ends it.
func (h *Hub) inBatches(ctx context.Context, what string, ids []uuid.UUID, fn func(context.Context, []uuid.UUID) error) {
	for some := range slices.Chunk(ids, agentsAtOnce) {
		ctx, cancel := context.WithTimeout(ctx, statementTimeout)
		err := fn(ctx, some)
		cancel()
		if err != nil {
			h.warnLimited(what, err)
			return
		}
	}
}

// inPingRound returns the receivers that are pinged in a part of the interval.
func (h *Hub) inPingRound(round int) []receiver {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var list []receiver
	for _, siblings := range h.receivers {
		for _, r := range siblings {
			if r.pingDue(round) {
				list = append(list, r)
			}
		}
	}
	return list
}

// tokensHeld adds to a list the tokens that connections were opened with, each once: a token belongs to one agent.
func (h *Hub) tokensHeld(list []uuid.UUID) []uuid.UUID {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, siblings := range h.receivers {
		first := len(list)
		for _, r := range siblings {
			if token := r.place().TokenID; !slices.Contains(list[first:], token) {
				list = append(list, token)
			}
		}
	}
	return list
}
