package judge

import (
	"strings"

	"stoa/cmd/prove/history"
)

// checkAudits reports why the agents' own client refused the key log (§12.2).
var checkAudits = each(func(_ *run, a *history.Attempt) string {
	if a.Status == history.Refuted {
		return ": " + a.Failure
	}
	return ""
}, history.LogAudit, history.LogOwn)

// checkAgents counts the entries of agents: one for each registration that was answered, and no others.
func checkAgents(r *run, f *Finding) {
	if r.Final.LogAgents == 0 {
		return // the run ended before the log was read
	}
	answered, may := make(map[string]bool), make(map[string]bool)
	for i := range r.Attempts {
		if a := &r.Attempts[i]; (a.Operation == history.Register || strings.HasPrefix(a.Operation, "burst.register")) && mayHaveActed(a) {
			may[a.Subject] = true
			if a.Succeeded() {
				answered[a.Subject] = true
			}
		}
	}
	f.Looked += len(may)
	if n := r.Final.LogAgents; n < len(answered) || n > len(may) {
		f.violatedf("the key log has %d entries of agents, and %d to %d registered", n, len(answered), len(may))
	}
}
