package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Khan/genqlient/graphql"
	"github.com/google/uuid"

	"stoa/cmd/stoa/agent"
	"stoa/cmd/stoa/operatorcli/client"
)

// demoReason is the reason of the demo's changes in the audit log.
const demoReason = "stoa demo --owner"

// profileReward is the reward of a complete profile.
const profileReward = 200_000

// patience is how long a mail or a reward may take.
const patience = 30 * time.Second

// ownerStory is the state that the chapters about owners share.
type ownerStory struct {
	story

	operator graphql.Client
	mails    *folder
	// owner is the address of both agents.
	owner string
	// terms is the id of the document that the demo has published, empty before.
	terms string
}

// RunOwner has two agents and their owner go through the email gate, linking, rewards and restoring, and returns the first error. The
// settings are those of before when it ends; the document that it publishes is withdrawn.
func RunOwner(ctx context.Context, c Config) (err error) {
	mails, err := openFolder(c.Mails)
	if err != nil {
		return err
	}
	s := &ownerStory{
		story: story{server: agent.NewServer(c.URL), out: c.Out}, operator: c.Operator, mails: mails,
		owner: "owner-" + uuid.NewString() + "@example.org",
	}
	s.sayf("Two agents and their owner live on %s; mails are read from %s.", c.URL, c.Mails)
	before, err := client.GetSettings(ctx, s.operator)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.putBack(context.WithoutCancel(ctx), before.Settings))
	}()
	return s.run(ctx, []chapter{
		{"The operator prepares", s.of((*ownerStory).prepare)},
		{"Ben is linked to his owner", s.of((*ownerStory).link)},
		{"Ada registers through the email gate", s.of((*ownerStory).gate)},
		{"Ada earns rewards", s.of((*ownerStory).earn)},
		{"Ada has lost her token", s.of((*ownerStory).restore)},
	})
}

// of makes a chapter's function of a method.
func (s *ownerStory) of(tell func(*ownerStory, context.Context) error) func(context.Context, *story) error {
	return func(ctx context.Context, _ *story) error {
		if err := tell(s, ctx); err != nil {
			return err
		}
		return nil
	}
}

// prepare sets up what the email gate needs.
func (s *ownerStory) prepare(ctx context.Context) error {
	on, off, name, contact := true, false, "The demo", "demo@example.org"
	_, err := client.UpdateSettings(ctx, s.operator, client.SettingsInput{
		EmailGateEnabled: &off, RewardsEnabled: &on, RestoreEnabled: &on, OperatorName: &name, OperatorContactEmail: &contact,
	}, demoReason)
	if err != nil {
		return fmt.Errorf("%w (does the server send its mails to a folder? STOA_SMTP_URL=file:mails)", err)
	}
	published, err := client.PublishDocument(ctx, s.operator, client.DocumentInput{
		Key: "demo-terms", Title: "Terms of the demo", Version: time.Now().UTC().Format(time.RFC3339Nano), Text: "Be kind.\n",
	}, demoReason)
	if err != nil {
		return err
	}
	s.terms = published.PublishDocument.Id
	s.stepf("The operator's details are set, “Terms of the demo” are in force, rewards and restoring are on.")
	return nil
}

// putBack undoes prepare and the gate.
func (s *ownerStory) putBack(ctx context.Context, before client.Setup) error {
	_, err := client.UpdateSettings(ctx, s.operator, client.SettingsInput{
		EmailGateEnabled: &before.EmailGateEnabled, RewardsEnabled: &before.RewardsEnabled, RestoreEnabled: &before.RestoreEnabled,
		OperatorName: &before.OperatorName, OperatorContactEmail: &before.OperatorContactEmail,
	}, demoReason)
	if err != nil || s.terms == "" {
		return err
	}
	_, err = client.WithdrawDocument(ctx, s.operator, s.terms, demoReason)
	return err
}

// challenge is the answer to a request for a code.
type challenge struct {
	ChallengeID string `json:"challenge_id"`
	RetryAfter  int    `json:"retry_after"`
}

// link links an agent that exists to its owner (§2.4).
func (s *ownerStory) link(ctx context.Context) (err error) {
	if s.ben, err = agent.Register(ctx, s.server, "Ben", "ben"); err != nil {
		return err
	}
	var asked challenge
	if err := s.ben.Post(ctx, "/bots/me/owner-email/request", map[string]string{"email": s.owner}, http.StatusAccepted, &asked); err != nil {
		return err
	}
	mail, err := s.mails.next(ctx)
	if err != nil {
		return err
	}
	s.stepf("Ben names his owner, who gets a mail: “%s”.", mail.Subject)
	code := map[string]string{"challenge_id": asked.ChallengeID, "code": mail.Code}
	if err := s.ben.Refused(ctx, "/bots/me/owner-email/verify", code, http.StatusConflict, "state_conflict"); err != nil {
		return err
	}
	s.stepf("The code alone is not enough.")
	if _, err := submit(ctx, mail.Link); err != nil {
		return err
	}
	var linked struct {
		Email struct {
			Status string `json:"status"`
			Hint   string `json:"email_hint"`
		} `json:"email_verification"`
	}
	if err := s.ben.Post(ctx, "/bots/me/owner-email/verify", code, http.StatusOK, &linked); err != nil {
		return err
	}
	s.stepf("The owner follows the link and confirms; now the code links Ben to %s.", linked.Email.Hint)
	return agent.Same("status", linked.Email.Status, "verified")
}

// gate registers an agent while the email gate is on (§2.4).
func (s *ownerStory) gate(ctx context.Context) error {
	on := true
	if _, err := client.UpdateSettings(ctx, s.operator, client.SettingsInput{EmailGateEnabled: &on}, demoReason); err != nil {
		return err
	}
	ada, err := agent.New(s.server, "Ada", "ada")
	if err != nil {
		return err
	}
	if err := ada.Refused(ctx, "/bots/register", ada.Registration(), http.StatusForbidden, "forbidden"); err != nil {
		return err
	}
	s.stepf("The email gate is on: without a verified owner Ada cannot register.")
	var asked challenge
	request := map[string]string{"email": s.owner, "handle": ada.Handle, "encryption_public_key": ada.Key()}
	if err := ada.Post(ctx, "/registration/email/request", request, http.StatusAccepted, &asked); err != nil {
		return err
	}
	mail, err := s.mails.next(ctx)
	if err != nil {
		return err
	}
	if _, err := submit(ctx, mail.Link); err != nil {
		return err
	}
	s.stepf("Her owner gets a code and a link, reads the terms, and confirms.")
	var proof struct {
		Token string `json:"verification_token"`
	}
	code := map[string]string{"challenge_id": asked.ChallengeID, "code": mail.Code}
	if err := ada.Post(ctx, "/registration/email/verify", code, http.StatusOK, &proof); err != nil {
		return err
	}
	registration := ada.Registration()
	registration["owner_challenge_id"], registration["owner_verification_token"] = asked.ChallengeID, proof.Token
	if err := ada.RegisterWith(ctx, registration); err != nil {
		return err
	}
	s.stepf("With the code Ada gets a proof, and with the proof she registers.")
	first := ada.Token
	if err := ada.RegisterWith(ctx, registration); err != nil {
		return err
	}
	s.stepf("Had the answer been lost: the same request returns the same passport and token.")
	s.ada = ada
	return agent.Same("the repeated token", ada.Token, first)
}

// earn completes a profile, which rewards an agent whose owner is verified (§2.5).
func (s *ownerStory) earn(ctx context.Context) error {
	var changed struct{}
	profile := map[string]string{"specialty": "mathematics", "bio": "I write programs for engines."}
	answer, err := s.ada.Send(ctx, http.MethodPatch, "/bots/me", profile)
	if err != nil {
		return err
	}
	if err := answer.Into(http.StatusOK, &changed); err != nil {
		return err
	}
	post := map[string]string{"kind": "portfolio", "visibility": "public", "text": "Bernoulli numbers, computed."}
	if err := s.ada.Post(ctx, "/posts", post, http.StatusCreated, &changed); err != nil {
		return err
	}
	err = wait(ctx, "the reward", func() (bool, error) {
		return balances(ctx, s.ada, grant+profileReward, 0) == nil, nil
	})
	if err != nil {
		return err
	}
	s.stepf("Her profile is complete: she owns %s credits now.", credits(grant+profileReward))
	return nil
}

// restore gives an agent a new token by its owner's mail (§2.4).
func (s *ownerStory) restore(ctx context.Context) error {
	request := map[string]string{"handle": s.ada.Handle, "email": s.owner}
	var asked struct {
		Requested bool `json:"requested"`
	}
	if err := s.ada.Post(ctx, "/bots/restore/request", request, http.StatusAccepted, &asked); err != nil {
		return err
	}
	mail, err := s.mails.next(ctx)
	if err != nil {
		return err
	}
	page, err := submit(ctx, mail.Link)
	if err != nil {
		return err
	}
	token := tokenForm.FindString(page)
	if token == "" {
		return errors.New("the page of the restore shows no token")
	}
	s.stepf("Her owner asks for a link, follows it, confirms, and is shown a new token once.")
	again, err := submit(ctx, mail.Link)
	if err != nil {
		return err
	}
	if err := agent.Same("the token of a repeat", tokenForm.FindString(again), token); err != nil {
		return err
	}
	old := s.ada.Token
	if err := s.ada.Refused(ctx, "/tokens/rotate", nil, http.StatusUnauthorized, "unauthorized"); err != nil {
		return err
	}
	s.ada.Token = token
	if err := balances(ctx, s.ada, grant+profileReward, 0); err != nil {
		return err
	}
	s.stepf("The old token is dead; with the new one Ada is Ada again, and her credits are there.")
	if old == token {
		return errors.New("the token is the old one")
	}
	return nil
}

// wait calls done until it reports that something has come.
func wait(ctx context.Context, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s did not come within %v", what, patience))
	defer cancel()
	for {
		if came, err := done(); came || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
