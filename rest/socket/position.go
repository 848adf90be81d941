package socket

// position is where a session stands in its recipient's events. A pass reads them from settled on, in chunks, so that it finds
// events that became visible after later ones; the next pass begins where the horizon was when the last one began.
type position struct {
	// settled is the sequence up to which no event can appear any more that the session has not gone through.
	settled int64
	// known is the sequence up to which the session has gone through the events that were visible.
	known int64
	// passing tells that a pass is under way. It continues behind the sequence at and was begun at the horizon begun.
	passing   bool
	at, begun int64
	// again tells that another pass has to follow.
	again bool
}

// begin starts a pass, or has one follow the pass under way.
func (p *position) begin(horizon int64) {
	if p.passing {
		p.again = true
		return
	}
	p.passing, p.at, p.begun = true, p.settled, horizon
}

// end ends a pass that has reached the last event, and tells whether another has to follow.
func (p *position) end() (again bool) {
	again = p.again
	p.passing, p.again = false, false
	p.settled = max(p.settled, p.begun)
	p.known = max(p.known, p.settled)
	return again
}

// reset has the next pass begin at the oldest event.
func (p *position) reset() { p.settled, p.passing, p.again = 0, false, false }
