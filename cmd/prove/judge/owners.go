package judge

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// agentsOfAddress is how many agents an address may hold (§8).
	agentsOfAddress = 3
	// wrongCodes is how many wrong codes end a challenge.
	wrongCodes = 5
)

// verification is an agent's state with its owner (§4.1).
type verification struct {
	Status     string `json:"status"`
	EmailHint  string `json:"email_hint"`
	VerifiedAt string `json:"verified_at"`
}

// hintOf returns the hint of an address that an agent gets.
func hintOf(address string) string {
	_, domain, _ := strings.Cut(address, "@")
	return address[:min(1, len(address))] + "***@" + domain
}

// mayBeOwned reports whether an agent may have had an owner at a moment.
func (r *run) mayBeOwned(agent string, at time.Duration) bool {
	return may(r.by[history.OwnerVerify], at, by(agent))
}

// mayBeFull reports whether other agents may have taken all places of an address by a moment.
func (r *run) mayBeFull(address, agent string, at time.Duration) bool {
	holder := func(a *history.Attempt) string { return a.Agent }
	others := func(a *history.Attempt) bool { return a.Subject == address && a.Agent != agent }
	return distinct(r.by[history.OwnerVerify], at, holder, others) >= agentsOfAddress
}

// mayHaveReplaced finds a request of the same agent that may have ended a challenge before a moment.
func (r *run) mayHaveReplaced(asked *history.Attempt, before time.Duration) bool {
	return may(r.by[history.OwnerRequest], before, func(b *history.Attempt) bool {
		later := asked.Start
		if unknown(b) {
			later -= straggling
		}
		return b != asked && b.Agent == asked.Agent && b.End > later
	})
}

// mayBeOver reports whether a challenge may have ended by a moment: it was replaced, came too late, or wrong codes were entered.
func (r *run) mayBeOver(challenge string, at time.Duration) bool {
	asked := r.challenges[challenge]
	return asked == nil || at > asked.Start+challengeLife || r.mayHaveReplaced(asked, at) ||
		r.guesses(challenge, func(a *history.Attempt) bool { return a.Start < at && a.Status != http.StatusTooManyRequests }) >= wrongCodes
}

// isEnded reports whether enough wrong codes were refused before a moment to end a challenge.
func (r *run) isEnded(challenge string, at time.Duration) bool {
	return r.guesses(challenge, func(a *history.Attempt) bool { return a.End < at && a.Code == "invalid_input" }) >= wrongCodes
}

// guesses counts the wrong codes of a challenge that fit.
func (r *run) guesses(challenge string, which fits) int {
	return count(r.by[history.OwnerGuess], func(a *history.Attempt) bool { return a.Subject == challenge && which(a) })
}

// checkOwners judges the answers alone, checkHolders the state at the end.
var checkOwners = each(func(r *run, a *history.Attempt) string {
	switch {
	case !settled(a) || r.isGone(a): // a restore may have undone the challenge
	case a.Operation == history.OwnerGuess:
		if a.Succeeded() && !r.mayBeOwned(a.Agent, a.End) {
			return ", but the code was wrong"
		}
	case did(r.by[history.OwnerVerify], a.Start, by(a.Agent)):
		if !a.Succeeded() {
			return ", but the agent had an owner"
		}
	case a.Succeeded() && r.isEnded(a.ID, a.Start) && !r.mayBeOwned(a.Agent, a.Start):
		return ", but five wrong codes had ended the challenge"
	case a.Succeeded() && !may(r.by[history.OwnerConfirm], a.End, about(a.ID)):
		return ", but the owner had not confirmed"
	case a.Code == "state_conflict" && did(r.by[history.OwnerConfirm], a.Start, about(a.ID)) && !r.mayBeFull(a.Subject, a.Agent, a.End):
		return ", but the owner had confirmed, and the address had not three agents"
	case a.Code == "invalid_input" && !r.mayBeOver(a.ID, a.End) && !r.mayBeOwned(a.Agent, a.End): // it may have been used at that moment
		return ", but the code was right, and the challenge was not over"
	}
	return ""
}, history.OwnerGuess, history.OwnerVerify)

func checkHolders(r *run, f *Finding) {
	holders := make(map[string][]string)
	for _, agent := range sorted(r.ids) {
		raw, read := r.Final.Onboarding[agent]
		var card answer
		switch err := json.Unmarshal(raw, &card); {
		case !read && r.mayBeOwned(agent, r.end()):
			f.violatedf("the onboarding of %s cannot be read at the end", agent)
			continue
		case !read:
			continue
		case err != nil:
			f.violatedf("the onboarding of %s is unreadable: %v", agent, err)
			continue
		}
		v := card.EmailVerification
		f.Looked++
		if v.Status == "verified" {
			holders[v.EmailHint] = append(holders[v.EmailHint], agent)
		}
		r.judgeOwner(agent, v, f)
	}
	for _, hint := range sorted(holders) {
		if len(holders[hint]) > agentsOfAddress {
			f.violatedf("%s holds %d agents: %s", hint, len(holders[hint]), strings.Join(holders[hint], ", "))
		}
	}
}

// judgeOwner compares an agent's final state with its answers.
func (r *run) judgeOwner(agent string, finally verification, f *Finding) {
	hints := make(map[string]bool)
	for _, a := range r.of(history.OwnerVerify, history.RegistrationVerify) {
		if a.Agent != agent || !mayHaveActed(a) {
			continue
		}
		hints[hintOf(a.Subject)] = true
		if a.Operation != history.OwnerVerify || !a.Succeeded() {
			continue
		}
		if v := got(a).EmailVerification; v.Status != "verified" || v != finally {
			f.violatedf("%s with %s, %s; in the end it is %s, %s", Describe(a), v.Status, v.EmailHint, finally.Status, finally.EmailHint)
		}
	}
	if finally.Status == "verified" && !hints[finally.EmailHint] {
		f.violatedf("%s has the owner %s, whose code it never entered", agent, finally.EmailHint)
	}
}
