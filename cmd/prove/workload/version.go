package workload

// latestEvents is the version of the events that has all of them (§6).
const latestEvents = 2

// subprotocols are those of a socket for each version; the first needs none.
var subprotocols = [latestEvents + 1][]string{2: {"stoa.events.v2"}}

// version draws the version of the events for which the agent listens next: mostly the latest, which has what the first one leaves
// waiting.
func (a *Agent) version() int {
	if a.chance.IntN(3) == 0 {
		return 1
	}
	return latestEvents
}
