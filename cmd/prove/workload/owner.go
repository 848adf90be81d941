package workload

import (
	"context"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/letter"
	"stoa/cmd/prove/history"
)

const (
	// ownerPace is the mean time between the challenges of an agent; slowPace is that of the undecided, in which mails may come again,
	// and of those that have an owner.
	ownerPace = 3 * time.Second
	slowPace  = 10 * time.Second
	// familyBeat is when the agents of a family enter their codes, all at the same moment.
	familyBeat = 4 * time.Second
	// familyTries is how often an agent names the address of its family: an address gets ten mails a day.
	familyTries = 2
	// challengeLife is how long a code is good.
	challengeLife = 10 * time.Minute
	// rewardWithin is how long a reward may take after the faults are over.
	rewardWithin = 45 * time.Second
	// mailTimeout is how long a mail may take after the faults are over; a mail that has failed for long takes half as
	// long again as that.
	mailTimeout = 3 * time.Minute
)

// Of eight agents the first four are a family: they name one address, which may hold three (§4.1). The others, and agents that
// found the address full, name new addresses and mostly enter no code; the last three, who are undecided, never do.
const (
	generation = 8
	family     = 4
	undecided  = 3
	// entersOneOf is of how many codes the others enter one.
	entersOneOf = 24
)

// owner is an agent's knowledge of its owner. It belongs to seekOwner and settleOwner.
type owner struct {
	number int
	random *mathrand.Rand
	// family is the family's address while it may still be the owner's, tries how often it was named.
	family string
	tries  int
	// others counts the agent's other addresses.
	others int
	// challenge is the one that was answered last, at asked, and not replaced since, of address; once linked the one that was
	// verified.
	challenge, address string
	asked              time.Time
	linked             bool
}

func (o *owner) undecided() bool { return o.number%generation >= generation-undecided }

func (o *owner) pause() time.Duration {
	mean := ownerPace
	if o.undecided() || o.linked {
		mean = slowPace
	}
	return time.Duration(o.random.ExpFloat64() * float64(mean))
}

func newOwner(w *Workload, number int) owner {
	o := owner{number: number, random: w.random(1<<32 + uint64(number)), asked: time.Now()}
	if number%generation < family {
		o.family = fmt.Sprintf("owner@family-%d.example", number/generation)
	}
	return o
}

// next returns the address to name.
func (o *owner) next() string {
	if o.family != "" && o.tries < familyTries && (o.tries > 0 || o.random.IntN(3) > 0) {
		o.tries++
		return o.family
	}
	o.others++
	return fmt.Sprintf("owner@agent-%d-%d.example", o.number, o.others)
}

// seekOwner has the agent linked to its owner (§4.1), until ctx ends. It runs beside act and listen.
func (a *Agent) seekOwner(ctx context.Context) {
	o := &a.owner
	for a.pause(ctx, o.pause()) {
		switch {
		case o.linked && o.random.IntN(2) == 0:
			a.verifyOwner(ctx) // it gets the same answer
		case !a.askForCode(ctx):
		case o.address == o.family:
			a.followMail(ctx, true)
		case o.random.IntN(4) > 0: // else it changes its mind
			a.followMail(ctx, !o.undecided() && o.random.IntN(entersOneOf) == 0)
		}
	}
}

// settleOwner ends what is under way: the mails that are waited for, the family's address, and the reward. The faults must be over.
func (a *Agent) settleOwner(ctx context.Context) {
	o := &a.owner
	ctx, cancel := context.WithTimeout(ctx, max(mailTimeout, time.Since(o.asked)*3/2))
	defer cancel()
	if a.w.mayBeLost(o.asked) {
		o.challenge = ""
	}
	if o.challenge != "" && !o.linked {
		a.followMail(ctx, o.address == o.family || o.number%2 == 0)
	}
	for !o.linked && o.family != "" && o.tries < familyTries {
		if a.askForCode(ctx) {
			a.followMail(ctx, o.address == o.family)
		}
	}
	a.awaitReward(ctx)
}

// awaitReward waits until nothing is left that the agent has earned.
func (a *Agent) awaitReward(ctx context.Context) {
	for until := time.Now().Add(rewardWithin); time.Now().Before(until) && a.awaitsReward(ctx) && a.pause(ctx, time.Second); {
		continue
	}
}

// askForCode asks for a challenge, once, since a repeat would be another one.
func (a *Agent) askForCode(ctx context.Context) (asked bool) {
	o := &a.owner
	address := o.next()
	got := a.once(ctx, request{operation: history.OwnerRequest, subject: address, method: http.MethodPost,
		path: "/bots/me/owner-email/request", body: map[string]string{"email": address}, keep: true})
	var made struct {
		ChallengeID string `json:"challenge_id"`
	}
	switch {
	case got.succeeded() && got.into(&made) == nil:
		o.challenge, o.address, o.asked = made.ChallengeID, address, time.Now()
		return true
	case o.linked:
	case got.code == "state_conflict": // the address is full
		o.family = ""
	case !got.final(): // it may have replaced the challenge before
		o.challenge = ""
	}
	return false
}

// followMail waits for the mail of the current challenge, and lets the owner do what it says; the agent enters the code only if
// enters is set. It may try wrong codes, and the right one too early.
func (a *Agent) followMail(ctx context.Context, enters bool) {
	o := &a.owner
	waiting, cancel := context.WithDeadline(ctx, o.asked.Add(challengeLife))
	defer cancel()
	mail, ok := a.w.mails.await(waiting, o.challenge)
	if !ok {
		return
	}
	if o.random.IntN(3) == 0 {
		for range 1 + o.random.IntN(2) {
			wrong := []byte(mail.Code)
			wrong[0] = '0' + (wrong[0]-'0'+1)%10
			a.once(ctx, a.guess(string(wrong)))
		}
	}
	if enters && o.random.IntN(4) == 0 {
		a.verifyOwner(ctx)
	}
	if !a.confirm(ctx, mail) || !enters {
		return
	}
	if o.address == o.family {
		now := a.w.Recorder.Now()
		a.pause(ctx, now.Truncate(familyBeat)+familyBeat-now)
	}
	if got := a.verifyWhileChanging(ctx); got.code == "state_conflict" {
		o.family = "" // it is full
	}
}

// verifyWhileChanging enters the right code while the profile changes, twice: each of the three may find that the agent has earned a
// reward.
func (a *Agent) verifyWhileChanging(ctx context.Context) (got answer) {
	change := func() {
		r := a.profileChange(map[string]any{"bio": "I take part in a proof, " + uuid.NewString()})
		r.server, _ = a.twoServers()
		a.once(ctx, r)
	}
	together(func() { got = a.verifyOwner(ctx) }, change, change)
	return got
}

// guess is a request that enters a wrong code.
func (a *Agent) guess(code string) request {
	return request{operation: history.OwnerGuess, subject: a.owner.challenge, method: http.MethodPost,
		path: "/bots/me/owner-email/verify", body: map[string]string{"challenge_id": a.owner.challenge, "code": code}}
}

// verifyOwner enters the right code.
func (a *Agent) verifyOwner(ctx context.Context) answer {
	o := &a.owner
	mail, ok := a.w.mails.await(ctx, o.challenge)
	if !ok {
		return answer{}
	}
	got, _ := a.repeat(ctx, request{operation: history.OwnerVerify, id: o.challenge, subject: o.address, method: http.MethodPost,
		path: "/bots/me/owner-email/verify", body: map[string]string{"challenge_id": o.challenge, "code": mail.Code}, keep: true})
	o.linked = o.linked || got.succeeded()
	return got
}

// confirm does what the owner does with the link of a mail: it opens the page and sends its form.
func (a *Agent) confirm(ctx context.Context, mail letter.Letter) (confirmed bool) {
	challenge, path := a.owner.challenge, a.w.pageOf(mail)
	page, _ := a.repeat(ctx, request{operation: history.OwnerOpen, subject: challenge, method: http.MethodGet, path: path, page: true})
	if !page.succeeded() {
		return false
	}
	got, _ := a.repeat(ctx, request{operation: history.OwnerConfirm, subject: challenge, method: http.MethodPost, path: path, page: true,
		raw: []byte(letter.Form(string(page.body)).Encode()), contentType: "application/x-www-form-urlencoded"})
	return got.succeeded()
}

// completeProfile does what is rewarded once the owner is verified (§2.5), before there are faults.
func (a *Agent) completeProfile(ctx context.Context) error {
	got := a.once(ctx, request{operation: "profile.update", subject: a.Handle, method: http.MethodPatch, path: "/bots/me",
		body: map[string]string{"specialty": "proofs", "bio": "I take part in a proof."}, noted: true, keep: true})
	if got.succeeded() {
		a.posted++
		title := fmt.Sprintf("%s writes %d", a.Handle, a.posted)
		got = a.once(ctx, request{operation: "post.create", id: title, subject: a.Handle, method: http.MethodPost, path: "/posts", keep: true,
			noted: true, body: map[string]string{"title": title, "text": "What I can do.", "kind": "portfolio", "visibility": "public"}})
	}
	if !got.succeeded() {
		return fmt.Errorf("%s cannot complete its profile: %d %s", a.Handle, got.status, got.body)
	}
	return nil
}

// awaitsReward reports that a ground is met but not rewarded yet.
func (a *Agent) awaitsReward(ctx context.Context) bool {
	body, err := a.readOnboarding(ctx)
	var card struct {
		Rewards struct {
			Grounds []struct {
				Status  string   `json:"status"`
				Missing []string `json:"missing"`
			} `json:"grounds"`
		} `json:"rewards"`
	}
	if err != nil || json.Unmarshal(body, &card) != nil {
		return false // the judge looks again
	}
	for _, ground := range card.Rewards.Grounds {
		if ground.Status == "available" && len(ground.Missing) == 0 {
			return true
		}
	}
	return false
}

func (a *Agent) readOnboarding(ctx context.Context) (json.RawMessage, error) {
	got := a.once(ctx, request{operation: "onboarding.get", subject: a.Handle, method: http.MethodGet, path: "/bots/me/onboarding"})
	if !got.succeeded() {
		return nil, fmt.Errorf("onboarding of %s: %d %s", a.Handle, got.status, got.body)
	}
	return got.body, nil
}
