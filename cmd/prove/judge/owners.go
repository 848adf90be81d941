package judge

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// agentsOfAddress is how many agents an address may hold (§8).
	agentsOfAddress = 3
	// wrongCodes is how many of them end a challenge.
	wrongCodes = 5
	// straggling is how much later than it was given up a request may have its effect.
	straggling = 30 * time.Second
)

// verification is how an agent stands with its owner (§4.1).
type verification struct {
	Status     string  `json:"status"`
	EmailHint  *string `json:"email_hint"`
	VerifiedAt *string `json:"verified_at"`
}

func (v verification) hint() string {
	if v.EmailHint == nil {
		return "no address"
	}
	return *v.EmailHint
}

func (v verification) same(other verification) bool {
	return v.Status == other.Status && v.hint() == other.hint() && (v.VerifiedAt == nil) == (other.VerifiedAt == nil) &&
		(v.VerifiedAt == nil || *v.VerifiedAt == *other.VerifiedAt)
}

// hintOf returns the hint of an address that an agent gets.
func hintOf(address string) string {
	_, domain, _ := strings.Cut(address, "@")
	return address[:min(1, len(address))] + "***@" + domain
}

// findOwners fills ofOwners and challenges.
func (r *run) findOwners() {
	r.ofOwners, r.challenges = make(map[string][]*history.Attempt), make(map[string]*history.Attempt)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if !strings.HasPrefix(a.Operation, "owner.") {
			continue
		}
		r.ofOwners[a.Operation] = append(r.ofOwners[a.Operation], a)
		if a.Operation == history.OwnerRequest && a.Succeeded() {
			r.challenges[challengeOf(a)] = a
		}
	}
}

// challengeOf reads the challenge of a request that was answered; it is empty if that cannot be read.
func challengeOf(a *history.Attempt) string {
	var body struct {
		ChallengeID string `json:"challenge_id"`
	}
	_ = json.Unmarshal(a.Body, &body) // checkOwners reports it
	return body.ChallengeID
}

// mayHaveActed says that an attempt has had its effect, or may have.
func mayHaveActed(a *history.Attempt) bool { return a.Succeeded() || unknown(a) }

// has finds an attempt of the owners' operations.
func (r *run) has(operation string, is func(a *history.Attempt) bool) bool {
	return slices.ContainsFunc(r.ofOwners[operation], is)
}

// isOwned says that an agent had an owner at a moment, mayBeOwned that it may have had one.
func (r *run) isOwned(agent string, at time.Duration) bool {
	return r.has(history.OwnerVerify, func(a *history.Attempt) bool { return a.Agent == agent && a.Succeeded() && a.End < at })
}

func (r *run) mayBeOwned(agent string, at time.Duration) bool {
	return r.has(history.OwnerVerify, func(a *history.Attempt) bool { return a.Agent == agent && mayHaveActed(a) && a.Start < at })
}

// mayBeFull says that other agents than this one may have taken all places of an address by a moment.
func (r *run) mayBeFull(address, agent string, at time.Duration) bool {
	holders := make(map[string]bool)
	for _, a := range r.ofOwners[history.OwnerVerify] {
		if a.Subject == address && a.Agent != agent && mayHaveActed(a) && a.Start < at {
			holders[a.Agent] = true
		}
	}
	return len(holders) >= agentsOfAddress
}

// mayHaveReplaced finds a request of the same agent that may have ended a challenge before a moment.
func (r *run) mayHaveReplaced(asked *history.Attempt, before time.Duration) bool {
	return r.has(history.OwnerRequest, func(other *history.Attempt) bool {
		if other == asked || other.Agent != asked.Agent || other.Start >= before {
			return false
		}
		return unknown(other) && other.End > asked.Start-straggling || other.Succeeded() && other.End > asked.Start
	})
}

// mayBeOver says that a challenge may have ended by a moment: it was replaced, came too late, or wrong codes were entered.
func (r *run) mayBeOver(challenge string, at time.Duration) bool {
	asked := r.challenges[challenge]
	if asked == nil || at > asked.Start+challengeLife || r.mayHaveReplaced(asked, at) {
		return true
	}
	wrong := 0
	for _, a := range r.ofOwners[history.OwnerGuess] {
		if a.Subject == challenge && a.Start < at && a.Status != http.StatusTooManyRequests {
			wrong++
		}
	}
	return wrong >= wrongCodes
}

// isEnded says that as many wrong codes were refused before a moment as end a challenge.
func (r *run) isEnded(challenge string, at time.Duration) bool {
	wrong := 0
	for _, a := range r.ofOwners[history.OwnerGuess] {
		if a.Subject == challenge && a.End < at && a.Code == "invalid_input" {
			wrong++
		}
	}
	return wrong >= wrongCodes
}

// isConfirmed says that the owner had confirmed a challenge by a moment, mayBeConfirmed that it may have.
func (r *run) isConfirmed(challenge string, at time.Duration) bool {
	return r.has(history.OwnerConfirm, func(a *history.Attempt) bool { return a.Subject == challenge && a.Succeeded() && a.End < at })
}

func (r *run) mayBeConfirmed(challenge string, at time.Duration) bool {
	return r.has(history.OwnerConfirm, func(a *history.Attempt) bool { return a.Subject == challenge && mayHaveActed(a) && a.Start < at })
}

// checkOwnersSoFar judges the answers alone, without the state at the end.
func checkOwnersSoFar(r *run, f *Finding) {
	for _, rule := range []struct {
		operation string
		broken    func(r *run, a *history.Attempt) string
	}{
		{history.OwnerRequest, brokenRequest}, {history.OwnerOpen, brokenPage}, {history.OwnerConfirm, brokenPage},
		{history.OwnerGuess, brokenGuess}, {history.OwnerVerify, brokenVerification},
	} {
		for _, a := range r.ofOwners[rule.operation] {
			f.Looked++
			if settled(a) && !r.isGone(a) {
				if why := rule.broken(r, a); why != "" {
					f.violatedf("%s, but %s", describe(a), why)
				}
			}
		}
	}
}

func checkOwners(r *run, f *Finding) {
	checkOwnersSoFar(r, f)
	holders := make(map[string][]string)
	for _, m := range r.Members {
		v, read := r.finally(m.Handle, f)
		if !read {
			continue
		}
		f.Looked++
		if v.Status == "verified" {
			holders[v.hint()] = append(holders[v.hint()], m.Handle)
		}
		r.judgeOwner(m.Handle, v, f)
	}
	for _, hint := range sorted(holders) {
		if len(holders[hint]) > agentsOfAddress {
			f.violatedf("%s holds %d agents: %s", hint, len(holders[hint]), strings.Join(holders[hint], ", "))
		}
	}
}

// judgeOwner compares an agent's final state with the answers that it got.
func (r *run) judgeOwner(agent string, finally verification, f *Finding) {
	hints := make(map[string]bool)
	for _, a := range r.ofOwners[history.OwnerVerify] {
		if a.Agent != agent || !mayHaveActed(a) {
			continue
		}
		hints[hintOf(a.Subject)] = true
		if !a.Succeeded() {
			continue
		}
		body, ok := decode[struct {
			EmailVerification verification `json:"email_verification"`
		}](f, a)
		if v := body.EmailVerification; ok && (v.Status != "verified" || !v.same(finally)) {
			f.violatedf("%s with %s, %s; in the end it is %s, %s", describe(a), v.Status, v.hint(), finally.Status, finally.hint())
		}
	}
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.Operation == history.RegistrationVerify && a.Agent == agent && mayHaveActed(a) {
			hints[hintOf(a.Subject)] = true
		}
	}
	if finally.Status == "verified" && !hints[finally.hint()] {
		f.violatedf("%s has the owner %s, whose code it never entered", agent, finally.hint())
	}
}

// finally returns an agent's final state; read is false if it was not asked for.
func (r *run) finally(agent string, f *Finding) (v verification, read bool) {
	raw, read := r.Final.Onboarding[agent]
	if !read {
		if r.mayBeOwned(agent, r.end()) {
			f.violatedf("the onboarding of %s cannot be read at the end", agent)
		}
		return v, false
	}
	var card struct {
		EmailVerification verification `json:"email_verification"`
	}
	if err := json.Unmarshal(raw, &card); err != nil {
		f.violatedf("the onboarding of %s is unreadable: %v", agent, err)
		return v, false
	}
	return card.EmailVerification, true
}

func brokenRequest(r *run, a *history.Attempt) string {
	switch {
	case a.Succeeded() && challengeOf(a) == "":
		return "it names no challenge"
	case a.Succeeded() && r.isOwned(a.Agent, a.Start):
		return "the agent had an owner"
	case a.Code == "state_conflict" && !r.mayBeOwned(a.Agent, a.End) && !r.mayBeFull(a.Subject, a.Agent, a.End):
		return "the agent had no owner, and the address not three agents"
	}
	return ""
}

func brokenPage(r *run, a *history.Attempt) string {
	if !a.Succeeded() && (a.Status != http.StatusGone || !r.mayBeOver(a.Subject, a.End)) {
		return "its link was mailed, and the challenge was not over"
	}
	return ""
}

func brokenGuess(r *run, a *history.Attempt) string {
	if a.Succeeded() && !r.mayBeOwned(a.Agent, a.End) {
		return "the code was wrong"
	}
	return ""
}

func brokenVerification(r *run, a *history.Attempt) string {
	switch {
	case r.isOwned(a.Agent, a.Start):
		if !a.Succeeded() {
			return "the agent had an owner"
		}
	case a.Succeeded() && r.isEnded(a.ID, a.Start) && !r.mayBeOwned(a.Agent, a.Start):
		return "five wrong codes had ended the challenge"
	case a.Succeeded() && !r.mayBeConfirmed(a.ID, a.End):
		return "the owner had not confirmed"
	case a.Code == "state_conflict" && r.isConfirmed(a.ID, a.Start) && !r.mayBeFull(a.Subject, a.Agent, a.End):
		return "the owner had confirmed, and the address had not three agents"
	case a.Code == "invalid_input" && !r.mayBeOver(a.ID, a.End) && !r.mayBeOwned(a.Agent, a.End): // it may have been used at that moment
		return "the code was right, and the challenge was not over"
	}
	return ""
}
