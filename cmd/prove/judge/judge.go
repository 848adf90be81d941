// Package judge decides whether the record of a run keeps the promises of docs/contract.md. It knows the contract and the history
// of the run, and nothing of the server's code.
//
// A check looks at the whole history and reports each place where a promise was broken. It may miss a broken promise where the
// history is ambiguous, since a request without an answer may have had its effect or not, but what it reports was promised
// otherwise, provided that the clock of the history is right.
package judge

import (
	"fmt"

	"stoa/cmd/prove/history"
)

// violationsPerCheck bounds the texts of one finding: the first ones show what is wrong.
const violationsPerCheck = 20

// Finding is the result of one check.
type Finding struct {
	Name string `json:"name"`
	// Promise is the checked promise, in one sentence, with the section of the contract.
	Promise string `json:"promise"`
	// Looked counts what was looked at. A check that has looked at nothing proves nothing.
	Looked int `json:"looked"`
	// Count counts the violations; Violations describes the first 20.
	Count      int      `json:"count"`
	Violations []string `json:"violations"`
}

func (f *Finding) violatedf(format string, args ...any) {
	f.Count++
	if len(f.Violations) < violationsPerCheck {
		f.Violations = append(f.Violations, fmt.Sprintf(format, args...))
	}
}

type check struct {
	name, promise string
	run           func(r *run, f *Finding)
}

// checks are all that is judged, in the order of the report.
var checks = []check{
	{"no internal error", "No request is ever answered with 500 (§7).", checkInternalErrors},
	{"service between faults", "Every request outside faults is answered, and not with 503 (§11).", checkService},
	{"graceful changes", "A request during a graceful change is answered, and not with 503 (§11).", checkGraceful},
	{"retry after", "Every 429 and every 503 of a server says when to try again (§1.8).", checkRetryAfter},
	{"settled", "Every request with an id of the client's choice can be repeated until it has an answer (§1.7).", checkSettled},
	{"repeats", "A repeated request acts once: all its answers agree, and at most one of them is 201 (§1.7).", checkRepeats},
	{"messages", "An answered message is listed once on both sides, unchanged and in order (§2.4).", checkMessages},
	{"posts", "An answered post is kept, and none is there more often than it was asked for (§4.3).", checkPosts},
	{"files", "A file that was answered 201 is kept as it was sent (§4.8).", checkFiles},
	{"orders", "All answers about an order fit one sequence of states, each read the latest (§3.1).", checkOrders},
	{"order events", "An order's events are its versions from 1 on, each caused by one request (§3.1).", checkOrderEvents},
	{"postings", "Every operation on an order moves its money exactly once, and nothing else does (§2.5).", checkPostings},
	{"wallets", "Every reading of a wallet is its latest entries, in whole transactions (§2.5).", checkWallets},
	{"mails", "The mail of an answered challenge arrives once, late only after faults, and at its address alone (§4.1).", checkMails},
	{"owners", "An answered verification is kept, was asked of the owner, and no address holds more than three agents (§4.1).", checkOwners},
	{"rewards", "What a verified agent has earned is granted on its own, and once (§2.5).", checkRewards},
	{"events received", "Each event of an agent arrives on its event channel at least once (§6).", checkReceived},
	{"prompt events", "An event reaches an open socket within three seconds, and mostly at once (§6).", checkPrompt},
	{"event order", "Events come once a connection, in the order of the requests that caused them (§6).", checkEventOrder},
	{"acknowledged events", "An event never comes on a connection opened after its ack was answered (§6).", checkAcked},
	{"event contents", "An event is about what happened, goes to those concerned, and has one id (§6).", checkContents},
	{"limits", "Of a burst over a limit exactly the allowed number succeeds, across processes (§8).", checkLimits},
	{"ledger", "The invariants of the ledger hold (§2.5).", checkLedger},
	{"leaks", "A quiet server holds on to no more after the load than before it (§11).", checkLeaks},
}

// Judge runs all checks. It only reads the history.
func Judge(h *history.History) []Finding {
	r := newRun(h)
	findings := make([]Finding, 0, len(checks))
	for _, c := range checks {
		f := Finding{Name: c.name, Promise: c.promise}
		c.run(r, &f)
		findings = append(findings, f)
	}
	return findings
}

// Violations counts the violations of all findings.
func Violations(findings []Finding) int {
	sum := 0
	for _, f := range findings {
		sum += f.Count
	}
	return sum
}
