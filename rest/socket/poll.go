package socket

import (
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
)

// answerTimeout is how long a client may take for the answer to its poll, 400 KB at most.
var answerTimeout = slack.Of(10 * time.Second)

// poll is a request that waits for events. It reads when it is woken, and is answered once.
type poll struct {
	hub  *Hub
	conn *httpserver.TakenOver
	slot events.Slot
	// cursor is where its answer begins.
	cursor events.Cursor

	mu sync.Mutex
	// over ends the wait.
	over *time.Timer
	// reading reports that a goroutine reads, again that it has to read once more.
	reading, again bool
	// failed is why the last read has failed.
	failed error
	ended  bool
}

// ServePoll takes over a poll that has found nothing, and answers it when there are events, its time is over, its token ends or the
// Hub drains; it returns before that. answered is false if the poll does not wait, because the Hub drains or for HEAD. Faults:
// rate_limited, service_unavailable.
func (h *Hub) ServePoll(w http.ResponseWriter, r *http.Request, wait *events.Wait) (answered bool, err error) {
	if r.Method == http.MethodHead || h.isDraining() {
		return false, nil
	}
	slot, process, err := h.admit(r, wait.Agent)
	if err != nil {
		return false, err
	}
	conn, err := httpserver.TakeOver(w)
	if err != nil {
		h.slots.submit(slot.ID)
		return false, err
	}
	p := &poll{hub: h, conn: conn, slot: slot, cursor: wait.Cursor}
	p.cursor.Size = min(p.cursor.Size, chunk) // what is held in memory is bounded
	if !h.register(p, process) {
		h.slots.submit(slot.ID)
		p.respond(nil, errAway)
		return true, nil
	}
	p.mu.Lock()
	p.over = time.AfterFunc(wait.Length, func() { p.end(nil, errAnswered) })
	p.mu.Unlock()
	go p.watch()
	p.schedule(pending{fetch: true}) // an event before the registration did not wake the poll
	return true, nil
}

// watch waits until the client leaves or the poll has ended.
func (p *poll) watch() {
	awaitEnd(p.conn)
	p.end(nil, errBroken)
}

// place implements receiver.
func (p *poll) place() events.Slot { return p.slot }

// pingDue implements receiver: there is nothing that a poll could be sent.
func (*poll) pingDue(int) bool { return false }

// settleAll implements receiver: a poll that waits has received nothing.
func (*poll) settleAll([]uuid.UUID) {}

// schedule implements receiver.
func (p *poll) schedule(work pending) {
	if !work.reads() {
		return
	}
	p.mu.Lock()
	p.again = true
	start := !p.reading && !p.ended
	p.reading = p.reading || start
	p.mu.Unlock()
	if start {
		go p.read()
	}
}

// next reports whether there is something to read.
func (p *poll) next() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading = p.again && !p.ended
	p.again = false
	return p.reading
}

// read reads until it finds no events, and ends the poll if it finds some. While the database is away it tries again.
func (p *poll) read() {
	for wait := firstWait; p.next(); {
		if p.look() {
			wait = firstWait
			continue
		}
		select {
		case <-time.After(wait):
		case <-p.hub.ctx.Done():
			return
		}
		wait = min(2*wait, longWait)
		p.schedule(pending{recheck: true})
	}
}

// look reads once, and reports whether it could.
func (p *poll) look() bool {
	permit := p.hub.acquireChunk()
	defer permit.release()
	p.hub.counts.fetched.Add(1)
	found, err := events.ReadPage(p.hub.ctx, p.cursor, p.hub.fetches.do)
	p.mu.Lock()
	p.failed = err
	p.mu.Unlock()
	switch {
	case err != nil:
		p.hub.warnLimited("event poll cannot read", err)
	case len(found.Events) > 0:
		slow := time.AfterFunc(slowClient, permit.release)
		defer slow.Stop()
		p.end(found, errAnswered)
	}
	return err == nil
}

// close implements receiver.
func (p *poll) close(reason closeReason) { go p.end(nil, reason) }

// abandon implements receiver.
func (p *poll) abandon() { _ = p.conn.Close() } // it may be closed already

// end frees the slot and then answers, so that a client that has its answer can poll again. Only the first call counts.
func (p *poll) end(found *events.Page, reason closeReason) {
	p.mu.Lock()
	first := !p.ended
	p.ended = true
	if p.over != nil {
		p.over.Stop()
	}
	p.mu.Unlock()
	if !first {
		return
	}
	p.hub.unregister(p)
	p.respond(found, reason)
	p.hub.finished(p.slot, reason)
}

// respond answers and closes the connection.
func (p *poll) respond(found *events.Page, reason closeReason) {
	defer p.conn.Close() // the client has its answer, or has gone
	p.mu.Lock()
	failed := p.failed
	p.mu.Unlock()
	if reason == errBroken {
		return
	}
	if found == nil {
		found = &events.Page{Events: []*events.Card{}}
	} else {
		p.hub.counts.delivered.Add(int64(len(found.Events)))
	}
	_ = p.conn.SetWriteDeadline(time.Now().Add(answerTimeout)) // the write shows that it is closed
	_ = p.conn.Answer(func(w http.ResponseWriter) {            // a client that has gone needs no answer
		raw, err := wire.Marshal(found)
		switch {
		case reason == errEnded:
			w.Header().Set("WWW-Authenticate", web.WrongToken)
			err = fault.New(fault.Unauthorized)
		case reason.code == codeIdentity:
			w.Header().Set("WWW-Authenticate", web.WrongToken)
			err = fault.New(fault.Unauthorized).Say(reason.text)
		case reason == errFull:
			err = faultFull()
		case reason == errAway && !p.hub.isDraining():
			err = fault.New(fault.ServiceUnavailable)
		case len(found.Events) == 0 && failed != nil:
			err = fault.Wrap(fault.ServiceUnavailable, failed)
		}
		if err != nil {
			_ = web.WriteError(w, fault.From(err)) // a fault with a fixed text is always JSON
			return
		}
		web.WriteJSON(w, http.StatusOK, raw)
	})
}
