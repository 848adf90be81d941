package judge

import (
	"stoa/cmd/prove/history"
)

// callsOfAgent is how many calls of tools an agent may have under way at a process (§8).
const callsOfAgent = 4

// callsMayBeBusy says that as many calls of the agent may have been under way as there may be.
func (r *run) callsMayBeBusy(a *history.Attempt) bool {
	if !a.Tool && a.Operation != history.ToolCall || a.Code != "rate_limited" {
		return false
	}
	calls := 0
	for i := range r.Attempts {
		other := &r.Attempts[i]
		end := other.End
		if unknown(other) {
			end += straggling
		}
		if other != a && other.Agent == a.Agent && (other.Tool || other.Operation == history.ToolCall) && other.Start < a.End && end > a.Start {
			calls++
		}
	}
	return calls >= callsOfAgent
}
