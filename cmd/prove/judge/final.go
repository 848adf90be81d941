package judge

import "strings"

func checkLedger(r *run, f *Finding) {
	f.Looked = 1
	for _, text := range r.Final.Ledger {
		f.violatedf("%s", text)
	}
}

// holding is how much of a resource quiet servers may hold after the load: a multiple of the number before, plus a number for
// each process.
type holding struct{ tolerance, slack float64 }

// idle is how many idle connections a process keeps for a while: its pool to the database (24) and as many of the load balancer.
const idle = 48

// holdings lists the resources that may grow; no others may: socket slots, upload reservations, attachment leases, advisory
// locks, temporary files.
var holdings = map[string]holding{
	"goroutines":           {1.1, idle},
	"open_files":           {1.1, idle},
	"database_connections": {1, idle / 2},
	"memory":               {1.5, 64 << 20},
}

func checkLeaks(r *run, f *Finding) {
	for _, key := range sorted(r.Final.Before) {
		if _, measured := r.Final.After[key]; !measured {
			f.violatedf("%s was not read after the load", key)
		}
	}
	for _, key := range sorted(r.Final.After) {
		f.Looked++
		before, after := r.Final.Before[key], r.Final.After[key]
		allowed := before
		if h, known := holdings[key]; known {
			allowed = before*h.tolerance + h.slack*float64(r.processes())
		}
		if after > allowed {
			f.violatedf("%s: %g before, %g after, %g are allowed", key, before, after, allowed)
		}
	}
}

// checkAudit compares the audit log with the actions of operators.
func checkAudit(r *run, f *Finding) {
	there, done := tally(r.Final.Audit), tally(r.Final.Acts)
	for entry, n := range tally(r.Final.Audit) {
		if procedure, target, _ := strings.Cut(entry, " "); target != "" {
			there[procedure+" "] += n
		}
	}
	for _, act := range sorted(done) {
		f.Looked++
		if there[act] != done[act] {
			f.violatedf("the audit log has %d entries of %q, and it was done %d times", there[act], act, done[act])
		}
	}
}

// tally counts the occurrences of each text.
func tally(all []string) map[string]int {
	count := make(map[string]int)
	for _, text := range all {
		count[text]++
	}
	return count
}
