// Package judge decides whether the record of a run keeps the promises of docs/contract.md. It knows the contract and the record,
// but none of the server's code.
//
// A check reads the whole history and reports each broken promise. It may miss one if the history is ambiguous, because a request
// without an answer may have taken effect or not. But each reported violation is real, if the clock of the history is right.
package judge

import (
	"encoding/json"
	"fmt"

	"stoa/cmd/prove/history"
)

// violationsPerCheck bounds the texts of one finding: the first ones show the problem.
const violationsPerCheck = 20

// Finding is the result of one check.
type Finding struct {
	Name string `json:"name"`
	// Promise is the checked promise, in one sentence, with the section of the contract.
	Promise string `json:"promise"`
	// Looked counts the judged items. A check that has judged nothing proves nothing.
	Looked int `json:"looked"`
	// Excused counts the items that the check passes over because of a starved machine, an ambiguous answer or a fault.
	Excused int `json:"excused"`
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

// check is a promise with the functions that judge it.
type check struct {
	name, promise string
	// along also judges before the end: a promise that it finds broken stays broken. ending needs the state at the end. One of
	// them may be nil.
	along, ending func(r *run, f *Finding)
}

// find runs parts of the check.
func (c *check) find(r *run, parts ...func(r *run, f *Finding)) Finding {
	f := Finding{Name: c.name, Promise: c.promise}
	for _, part := range parts {
		if part != nil {
			part(r, &f)
		}
	}
	return f
}

// checks are all checks, in the order of the report.
var checks = []check{
	{"no internal error", "No request is ever answered with 500 (§7).", checkAnswers, nil},
	{"service between faults", "Every request outside faults is answered, and not with 503 (§11).", checkService, nil},
	{"graceful changes", "A request during a graceful change is answered, and not with 503 (§11).", checkGraceful, nil},
	{"retry after", "Every 429 and every 503 of a server says when to try again (§1.8).", checkRetryAfter, nil},
	{"refusals", "A refusal is one that the contract allows at that moment (§1.6).", checkRefusals, nil},
	{"settled", "Every request with an id of the client's choice can be repeated until it has an answer (§1.7).", nil, checkSettled},
	{"repeats", "A repeated request acts once: all its answers are the first one, and marked as that (§1.7).", checkRepeats, nil},
	{"changed repeats", "Other content under an id that was used is refused as that (§1.7).", checkChangedRepeats, nil},
	{"messages", "An answered message is listed once on both sides, unchanged and in order (§2.4).", nil, checkMessages},
	{"contacts", "All answers about two agents' contact fit one sequence of its states (§3.2).", checkContacts, nil},
	{"nonces", "A nonce is accepted once of a sender, and once between two agents (§2.4).", checkNonces, nil},
	{"profiles", "A profile shows its last values, and to no one while it is closed (§2.1).", checkProfiles, nil},
	{"post readings", "A post shows its last values, and only to agents that may see it (§4.3).", checkPostReadings, nil},
	{"feed", "The feed has every post that may be seen, and no other (§4.3).", checkFeed, nil},
	{"tasks", "A task ends once, and has the content that it got last (§4.9).", checkTasks, nil},
	{"registrations", "A handle is one agent's, and a proof registers one agent (§2.1).", checkOnce, nil},
	{"files", "A file that was answered 201 is kept as it was sent, and an unsound file is refused (§4.8).", checkUnsound, checkFiles},
	{"orders", "All answers about an order, its ratings and drafts fit one sequence of states, each read the latest (§3.1).", checkOrders, nil},
	{"wallets", "Every reading of a wallet is its latest entries, in whole transactions (§2.5).", nil, checkWallets},
	{"mails", "The mail of an answered challenge arrives once, late only after faults, and at its address alone (§4.1).", checkMails, nil},
	{"owners", "An answered verification is kept, was asked of the owner, and no address holds more than three agents (§4.1).", checkOwners, checkHolders},
	{"rewards", "The rewards of a verified agent are granted without a request, and once (§2.5).", checkShownRewards, checkRewards},
	{"events received", "Each event of an agent arrives on its event channel at least once (§6).", nil, checkReceived},
	{"wake-ups", "An event reaches a socket at another server about as soon as one at the same server (§6).", nil, checkWakeUps},
	{"open sockets", "An event comes on every socket that is open when it happens (§6).", checkSockets, nil},
	{"event order", "Events come once a connection, in the order of the requests that caused them (§6).", checkEventOrder, nil},
	{"acknowledged events", "An event never comes on a connection opened after its ack was answered (§6).", checkAcked, nil},
	{"event contents", "An event is about something that happened, goes to the agents concerned, and has one id (§6).", checkContents, nil},
	{"limits", "Of a burst over a limit exactly the allowed number succeeds, across processes (§8).", checkLimits, nil},
	{"tokens", "A token is good until it is changed or revoked, and on no process after that; of two changes one succeeds (§3.3).", checkTokens, nil},
	{"audit", "Every act of an operator has an entry in the audit log (§10).", nil, checkAudit},
	{"webhooks", "An event that a receiver did not take is sent again (§4.12).", checkWebhooks, nil},
	{"deliveries", "An event at a webhook is signed and for it, one attempt after the other, usually in order, and not again once it was taken (§4.12).", checkDeliveries, checkTurns},
	{"key log", "Every agent has one entry, which proofs show; the log never shrinks and never forks (§12.2).", checkAudits, checkAgents},
	{"receipts", "A closed order has one receipt and each rating one document, which verify and agree with it (§12.5).", nil, checkReceipts},
	{"erasures", "An agent that has asked for it is erased when its time has come, and its token ends (§12.7).", nil, checkErasures},
	{"ledger", "The invariants of the ledger hold (§2.5).", nil, checkLedger},
	{"leaks", "A quiet server holds on to no more after the load than before it (§11).", nil, checkLeaks},
}

// Judge runs all checks. It only reads the history.
func Judge(h *history.History) []Finding {
	return alongLosses(h, h.Length, func() []Finding { return whole(h) })
}

// whole runs all checks on a complete history.
func whole(h *history.History) []Finding {
	r := newRun(h)
	findings := make([]Finding, 0, len(checks))
	for _, c := range checks {
		findings = append(findings, c.find(r, c.along, c.ending))
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

// record is a record whose id and state alone are judged.
type record struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// answer holds the judged members of all answers.
type answer struct {
	Message    record `json:"message"`
	Response   record `json:"response"`
	Task       record `json:"task"`
	Attachment struct {
		ID     string `json:"id"`
		SHA256 string `json:"sha256"`
	} `json:"attachment"`
	Order     orderCard    `json:"order"`
	Events    []orderEvent `json:"events"`
	Contact   contactCard  `json:"contact"`
	Post      postCard     `json:"post"`
	Posts     []postCard   `json:"posts"`
	Responses []record     `json:"responses"`
	Bot       struct {
		ID            string `json:"id"`
		Bio           string `json:"bio"`
		ProfilePublic bool   `json:"profile_public"`
	} `json:"bot"`
	Draft struct {
		ID    string `json:"id"`
		Reply struct {
			Verdict string `json:"verdict"`
		} `json:"reply"`
	} `json:"draft"`
	Rating struct {
		ID    string `json:"id"`
		Stars int    `json:"stars"`
	} `json:"rating"`
	EmailVerification verification    `json:"email_verification"`
	ChallengeID       string          `json:"challenge_id"`
	Rewards           rewards         `json:"rewards"`
	Wallet            history.Wallet  `json:"wallet"`
	Entries           []history.Entry `json:"entries"`
	NextBefore        any             `json:"next_before"`
}

// orderCard is an order. Only order.get shows its events.
type orderCard struct {
	ID           string `json:"id"`
	State        string `json:"state"`
	Outcome      string `json:"outcome"`
	Version      int64  `json:"version"`
	CustomerID   string `json:"customer_id"`
	ContractorID string `json:"contractor_id"`
	AuthorID     string `json:"author_id"`
	TotalMinor   int64  `json:"total_minor"`
}

// sides are the ids of the two participants.
func (o *orderCard) sides() []string { return []string{o.CustomerID, o.ContractorID} }

type orderEvent struct {
	Action        string `json:"action"`
	State         string `json:"state"`
	ParticipantID string `json:"participant_id"`
	Version       int64  `json:"version"`
}

type contactCard struct {
	record

	RequestedByMe bool   `json:"requested_by_me"`
	Bot           record `json:"bot"`
}

type postCard struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Author record `json:"author"`
}

// got reads the answer of an attempt. An unreadable one is empty: checkAnswers reports it.
func got(a *history.Attempt) *answer {
	b := new(answer)
	_ = json.Unmarshal(a.Body, b)
	return b
}

// setting holds the judged members of requests.
type setting struct {
	Bio           *string `json:"bio"`
	Specialty     *string `json:"specialty"`
	Text          *string `json:"text"`
	Visibility    *string `json:"visibility"`
	ProfilePublic *bool   `json:"profile_public"`
	ResponseID    string  `json:"response_id"`
	Nonce         string  `json:"nonce"`
	Ciphertext    string  `json:"ciphertext"`
}

func sent(a *history.Attempt) (s setting) {
	_ = json.Unmarshal(a.Sent, &s) // members that were not recorded stay unset
	return s
}

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
	for _, a := range r.of(history.Register, "burst.register", "burst.register.all") {
		if mayHaveActed(a) {
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
