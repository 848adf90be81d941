package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// movements are the operations on an order that move its money, by the kind of the entries (§2.5).
var movements = map[string][]string{
	"reserve": {history.OrderAccept, history.TaskSelect},
	"payment": {history.OrderComplete},
	"refund":  {history.OrderApproveRefund},
}

// causesOf returns the requests that may have caused an entry.
func (r *run) causesOf(e *history.Entry) (causes []*request) {
	for _, q := range r.ofOrders[e.OrderID] {
		if slices.Contains(movements[e.Kind], q.operation()) && (e.OperationID == "" || e.OperationID == q.id) {
			causes = append(causes, q)
		}
	}
	return causes
}

// initialGrant is the credit of a registration, in minor units (§2.5).
const initialGrant = 500_000

// ledger is an agent's entries with their sums.
type ledger struct {
	handle  string
	entries []history.Entry
	// after holds, for each number of transactions, the number of entries and the balances.
	after []position
}

type position struct {
	entries int
	wallet  history.Wallet
}

// newLedger groups the entries by transaction, and reports their own errors.
func newLedger(handle string, entries []history.Entry, f *Finding) *ledger {
	l := &ledger{handle: handle, entries: entries, after: []position{{}}}
	var now position
	done := make(map[string]bool)
	if len(entries) == 0 || entries[0].Kind != "grant" || entries[0].DeltaMinor != initialGrant {
		f.violatedf("wallet of %s does not begin with the grant", handle)
	}
	for i, e := range entries {
		f.Looked++
		if e.ID != int64(i+1) {
			f.violatedf("wallet of %s: entry %d has number %d", handle, i+1, e.ID)
		}
		now.entries++
		now.wallet.TotalMinor += e.DeltaMinor
		if e.AccountKind == "reserved" {
			now.wallet.ReservedMinor += e.DeltaMinor
		} else {
			now.wallet.AvailableMinor += e.DeltaMinor
		}
		if i+1 < len(entries) && entries[i+1].TransactionID == e.TransactionID {
			continue // the transaction goes on
		}
		if done[e.TransactionID] {
			f.violatedf("wallet of %s: the entries of transaction %s are not together", handle, e.TransactionID)
		}
		if now.wallet.AvailableMinor < 0 || now.wallet.ReservedMinor < 0 {
			f.violatedf("wallet of %s: below zero after transaction %s: %+v", handle, e.TransactionID, now.wallet)
		}
		done[e.TransactionID], l.after = true, append(l.after, now)
	}
	return l
}

func checkWallets(r *run, f *Finding) {
	reads := make(map[string][]*history.Attempt)
	for _, a := range r.answered(history.WalletGet, history.WalletHistory) {
		reads[a.Agent] = append(reads[a.Agent], a)
	}
	for _, handle := range sorted(reads) {
		if _, known := r.Final.Entries[handle]; !known {
			f.violatedf("wallet of %s cannot be read at the end", handle)
		}
	}
	for _, handle := range sorted(r.Final.Entries) {
		l := newLedger(handle, r.Final.Entries[handle], f)
		var calls []call[int]
		for k := 1; k+1 < len(l.after); k++ { // the grant is there from the beginning
			calls = append(calls, l.visible(r, k, f))
		}
		for _, a := range reads[handle] {
			f.Looked++
			if c, ok := l.read(a, f); ok {
				calls = append(calls, c)
			}
		}
		calls = append(calls, l.balances(r.Final.Wallets[handle], call[int]{start: r.end(), end: r.end(), text: "the final balances"}))
		linearize(f, "wallet of "+handle, min(1, len(l.after)-1), func(a, b int) bool { return a == b }, calls)
	}
}

// visible returns the call that makes transaction k, counted from 0, visible: during the request that caused it.
func (l *ledger) visible(r *run, k int, f *Finding) call[int] {
	first := l.entries[l.after[k].entries]
	c := call[int]{
		pending: true, text: fmt.Sprintf("transaction %s (%s) of %s", first.TransactionID, first.Kind, l.handle),
		step: func(state int, pending bool) (bool, int) {
			if state == k {
				return true, k + 1
			}
			return pending, state
		},
	}
	if _, ofOrder := movements[first.Kind]; !ofOrder {
		return c
	}
	causes := slices.DeleteFunc(r.causesOf(&first), func(q *request) bool { return !slices.ContainsFunc(q.attempts, mayHaveActed) })
	if len(causes) == 0 {
		f.violatedf("wallet of %s: nobody asked for entry %d, %s of order %s", l.handle, first.ID, first.Kind, first.OrderID)
		return c
	}
	c.start = causes[0].begun()
	for _, q := range causes {
		c.start = min(c.start, q.begun())
		if a := q.succeeded(); a != nil {
			c.start, c.end, c.pending = q.begun(), a.End, false
			break
		}
	}
	return c
}

// read returns the call of an answered wallet.get or wallet.history. It reports an answer that is wrong at any moment; then ok is
// false, as for a page that does not begin with the newest entry.
func (l *ledger) read(a *history.Attempt, f *Finding) (c call[int], ok bool) {
	c = call[int]{start: a.Start, end: a.End, reads: true, text: Describe(a)}
	body := got(a)
	if a.Operation == history.WalletGet {
		c.text += fmt.Sprintf(" with %+v", body.Wallet)
		return l.balances(body.Wallet, c), true
	}
	later := strings.Contains(a.Subject, "before=")
	if len(body.Entries) == 0 {
		if !later {
			f.violatedf("%s lists no entries", c.text)
		}
		return c, false
	}
	newest := body.Entries[0].ID
	if _, before, _ := strings.Cut(a.Subject, "before="); later && before != strconv.FormatInt(newest+1, 10) {
		f.violatedf("%s begins with entry %d", c.text, newest)
	}
	for i, e := range body.Entries {
		at := newest - int64(i)
		if at < 1 || at > int64(len(l.entries)) || l.entries[at-1] != e {
			f.violatedf("%s lists %+v as entry %d, which is another in the end", c.text, e, at)
			return c, false
		}
	}
	if last := body.Entries[len(body.Entries)-1].ID; body.NextBefore == nil && last != 1 {
		f.violatedf("%s ends with entry %d", c.text, last)
	}
	c.text += fmt.Sprintf(" with entry %d as the newest", newest)
	c.step = func(state int, _ bool) (bool, int) { return l.after[state].entries == int(newest), state }
	return c, !later
}

func (l *ledger) balances(w history.Wallet, c call[int]) call[int] {
	c.step = func(state int, _ bool) (bool, int) { return l.after[state].wallet == w, state }
	return c
}

// reward is the kind of the entries of all rewards but the first.
const reward = "reward"

// rewards are an agent's onboarding rewards (§4.1).
type rewards struct {
	Grounds []struct {
		Ground             string   `json:"ground"`
		Status             string   `json:"status"`
		BlockedReasons     []string `json:"blocked_reasons"`
		Missing            []string `json:"missing"`
		GrantedAmountMinor int64    `json:"granted_amount_minor"`
	} `json:"grounds"`
}

// checkShownRewards looks for rewards in the wallets of agents that no owner may have verified by then.
var checkShownRewards = each(func(r *run, a *history.Attempt) string {
	if len(rewarded(got(a).Entries)) > 0 && !r.mayBeProven(a.Agent, a.End) {
		return " shows a reward, and no owner has verified the agent"
	}
	return ""
}, history.WalletHistory)

// rewarded returns the sums of the rewards among entries, in order.
func rewarded(entries []history.Entry) (sums []int64) {
	for _, e := range entries {
		if e.Kind == reward {
			sums = append(sums, e.DeltaMinor)
		}
	}
	slices.Sort(sums)
	return sums
}

func checkRewards(r *run, f *Finding) {
	for _, agent := range sorted(r.Final.Onboarding) {
		var card answer
		if json.Unmarshal(r.Final.Onboarding[agent], &card) != nil {
			continue // checkHolders reports it
		}
		var granted []int64
		for _, ground := range card.Rewards.Grounds {
			f.Looked++
			switch {
			case ground.Status == "granted" && ground.Ground != "registration":
				granted = append(granted, ground.GrantedAmountMinor)
				if ground.Ground == "profile_complete" && !r.mayBeComplete(agent) {
					f.violatedf("%s was rewarded for a complete profile, and never named a specialty", agent)
				}
				if !r.mayBeProven(agent, r.end()) {
					f.violatedf("%s was rewarded for %s, and no owner has verified it", agent, ground.Ground)
				}
			case ground.Status == "available" && len(ground.Missing) == 0:
				f.violatedf("%s was never rewarded for %s", agent, ground.Ground)
			case card.EmailVerification.Status == "verified" && slices.Contains(ground.BlockedReasons, "email_unverified"):
				f.violatedf("%s is verified, and is not rewarded for %s because it is not", agent, ground.Ground)
			}
		}
		entered := rewarded(r.Final.Entries[agent])
		if slices.Sort(granted); !slices.Equal(granted, entered) {
			f.violatedf("%s was granted the rewards %v, and its wallet has %v", agent, granted, entered)
		}
	}
}

// mayBeProven reports whether an owner may have verified an agent by a moment, before its registration or after it.
func (r *run) mayBeProven(agent string, at time.Duration) bool {
	return r.mayBeOwned(agent, at) || may(r.by[history.RegistrationVerify], r.end(), by(agent))
}

// mayBeComplete reports whether an agent may have named its specialty, which a complete profile has.
func (r *run) mayBeComplete(agent string) bool {
	return may(r.by[history.ProfileUpdate], r.end(), func(a *history.Attempt) bool {
		s := sent(a)
		return a.Agent == agent && s.Specialty != nil && *s.Specialty != ""
	})
}

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
	process := func(a *history.Attempt) string { return a.Process }
	processes := distinct(r.of(), r.end(), process, func(a *history.Attempt) bool { return a.Process != "" })
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
			allowed = before*h.tolerance + h.slack*float64(processes)
		} else if key == "temporary_files" {
			allowed += float64(r.cutUploads())
		}
		if after > allowed {
			f.violatedf("%s: %g before, %g after, %g are allowed", key, before, after, allowed)
		}
	}
}

// cutUploads counts the uploads that a fault has cut: a server that is killed leaves the file that it was writing, and the hourly
// job deletes it.
func (r *run) cutUploads() (n int) {
	for _, a := range r.of(history.FileUpload, history.FileUnsound) {
		if a.Status == history.Unanswered && r.during(a, false) {
			n++
		}
	}
	return n
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

func tally(all []string) map[string]int {
	count := make(map[string]int)
	for _, text := range all {
		count[text]++
	}
	return count
}
