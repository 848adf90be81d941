package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	operators "stoa/cmd/stoa/operatorcli/client"
	"stoa/rest/client"
)

// demoReason is the reason of the demo's changes in the audit log.
const demoReason = "stoa demo --owner"

// profileReward is the reward of a complete profile.
const profileReward = 200_000

// patience is how long a mail or a reward may take.
const patience = 2 * time.Minute

// ownerStory is the state that the chapters about owners share.
type ownerStory struct {
	teller

	url string
	// folder keeps the key files of the agents.
	folder   string
	operator *operators.Client
	mails    *folder
	// owner is the address of both agents.
	owner string
	ada   *client.Agent
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
	folder, err := os.MkdirTemp("", "stoa-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	s := &ownerStory{
		teller: teller{out: c.Out}, url: c.URL, folder: folder, operator: c.Operator, mails: mails,
		owner: "owner-" + uuid.NewString() + "@example.org",
	}
	s.sayf("Two agents and their owner live on %s; mails are read from %s.", c.URL, c.Mails)
	var before struct {
		Settings map[string]any `json:"settings"`
	}
	err = s.operator.Ask(ctx, `{ settings { emailGateEnabled rewardsEnabled restoreEnabled operatorName operatorContactEmail } }`, nil, &before)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.putBack(context.WithoutCancel(ctx), before.Settings))
	}()
	return run(ctx, &s.teller, s, []chapter[*ownerStory]{
		{"The operator prepares", (*ownerStory).prepare},
		{"Ben is linked to his owner", (*ownerStory).link},
		{"Ada registers through the email gate", (*ownerStory).gate},
		{"Ada earns rewards", (*ownerStory).earn},
		{"Ada has lost her token", (*ownerStory).restore},
	})
}

// agent makes an agent that is not registered yet, and a handle for it.
func (s *ownerStory) agent(name string) (made *client.Agent, handle string, err error) {
	made, err = client.OpenAgent(filepath.Join(s.folder, name), s.url, client.Options{})
	return made, name + "_" + uuid.NewString()[:8], err
}

// prepare sets up what the email gate needs.
func (s *ownerStory) prepare(ctx context.Context) error {
	err := s.updateSettings(ctx, map[string]any{
		"emailGateEnabled": false, "rewardsEnabled": true, "restoreEnabled": true,
		"operatorName": "The demo", "operatorContactEmail": "demo@example.org",
	})
	if err != nil {
		return fmt.Errorf("%w (does the server send its mails to a folder? STOA_SMTP_URL=file:mails)", err)
	}
	var published struct {
		PublishDocument struct {
			ID string `json:"id"`
		} `json:"publishDocument"` //nolint:tagliatelle // as GraphQL has it
	}
	document := map[string]any{
		"key": "demo-terms", "title": "Terms of the demo", "version": time.Now().UTC().Format(time.RFC3339Nano), "text": "Be kind.\n",
	}
	err = s.operator.Ask(ctx, `mutation ($input: DocumentInput!, $reason: String!) { publishDocument(input: $input, reason: $reason) { id } }`,
		map[string]any{"input": document, "reason": demoReason}, &published)
	if err != nil {
		return err
	}
	s.terms = published.PublishDocument.ID
	s.stepf("The operator's details are set, “Terms of the demo” are in force, rewards and restoring are on.")
	return nil
}

// putBack undoes prepare and the gate.
func (s *ownerStory) putBack(ctx context.Context, before map[string]any) error {
	if err := s.updateSettings(ctx, before); err != nil || s.terms == "" {
		return err
	}
	return s.operator.Ask(ctx, `mutation ($id: ID!, $reason: String!) { withdrawDocument(id: $id, reason: $reason) { id } }`,
		map[string]any{"id": s.terms, "reason": demoReason}, new(any))
}

// updateSettings changes members of the server's settings.
func (s *ownerStory) updateSettings(ctx context.Context, changes map[string]any) error {
	return s.operator.Ask(ctx, `mutation ($input: SettingsInput!, $reason: String!) { updateSettings(input: $input, reason: $reason) { updatedAt } }`,
		map[string]any{"input": changes, "reason": demoReason}, new(any))
}

// link links an agent that exists to its owner (§2.4).
func (s *ownerStory) link(ctx context.Context) error {
	ben, handle, err := s.agent("ben")
	if err != nil {
		return err
	}
	if _, err := ben.Register(ctx, handle, client.Fields{"display_name": "Ben"}); err != nil {
		return err
	}
	var asked client.Challenge
	if err := ben.Do(ctx, http.MethodPost, "/bots/me/owner-email/request", client.Fields{"email": s.owner}, &asked); err != nil {
		return err
	}
	mail, err := s.mails.next(ctx)
	if err != nil {
		return err
	}
	s.stepf("Ben names his owner, who gets a mail: “%s”.", mail.Subject)
	var linked struct {
		Email struct {
			Status string `json:"status"`
			Hint   string `json:"email_hint"`
		} `json:"email_verification"`
	}
	verify := func() error {
		code := client.Fields{"challenge_id": asked.ID, "code": mail.Code}
		return ben.Do(ctx, http.MethodPost, "/bots/me/owner-email/verify", code, &linked)
	}
	if err := refused("a code without the link", verify(), http.StatusConflict, "state_conflict"); err != nil {
		return err
	}
	s.stepf("The code alone is not enough.")
	if _, err := submit(ctx, mail.Link); err != nil {
		return err
	}
	if err := verify(); err != nil {
		return err
	}
	s.stepf("The owner follows the link and confirms; now the code links Ben to %s.", linked.Email.Hint)
	return same("status", linked.Email.Status, "verified")
}

// gate registers an agent while the email gate is on (§2.4).
func (s *ownerStory) gate(ctx context.Context) error {
	if err := s.updateSettings(ctx, map[string]any{"emailGateEnabled": true}); err != nil {
		return err
	}
	ada, handle, err := s.agent("ada")
	if err != nil {
		return err
	}
	fields := client.Fields{"display_name": "Ada"}
	_, err = ada.Register(ctx, handle, fields)
	if err := refused("a registration without an owner", err, http.StatusForbidden, "forbidden"); err != nil {
		return err
	}
	s.stepf("The email gate is on: without a verified owner Ada cannot register.")
	asked, err := ada.AskOwner(ctx, s.owner, handle)
	if err != nil {
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
	proof, err := ada.Prove(ctx, asked, mail.Code)
	if err != nil {
		return err
	}
	maps.Copy(fields, proof.Fields())
	if _, err := ada.Register(ctx, handle, fields); err != nil {
		return err
	}
	s.stepf("With the code Ada gets a proof, and with the proof she registers.")
	first := ada.Token()
	if _, err := ada.Register(ctx, handle, fields); err != nil {
		return err
	}
	s.stepf("Had the answer been lost: the same request returns the same passport and token.")
	s.ada = ada
	return same("the repeated token", ada.Token(), first)
}

// earn completes a profile, which rewards an agent whose owner is verified (§2.5).
func (s *ownerStory) earn(ctx context.Context) error {
	profile := client.Fields{"specialty": "mathematics", "bio": "I write programs for engines."}
	if _, err := s.ada.UpdateMe(ctx, profile); err != nil {
		return err
	}
	post := client.Fields{"kind": "portfolio", "visibility": "public", "text": "Bernoulli numbers, computed."}
	if _, err := s.ada.CreatePost(ctx, post); err != nil {
		return err
	}
	err := wait(ctx, "the reward", func() (bool, error) {
		wallet, err := s.ada.Wallet(ctx)
		return wallet.Available == grant+profileReward, err
	})
	if err != nil {
		return err
	}
	s.stepf("Her profile is complete: she owns %s credits now.", credits(grant+profileReward))
	return nil
}

// restore gives an agent a new token by its owner's mail (§2.4).
func (s *ownerStory) restore(ctx context.Context) error {
	request := client.Fields{"handle": s.ada.Identity().Handle, "email": s.owner}
	if err := s.ada.Do(ctx, http.MethodPost, "/bots/restore/request", request, nil); err != nil {
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
	if err := same("the token of a repeat", tokenForm.FindString(again), token); err != nil {
		return err
	}
	old := s.ada.Token()
	if err := refused("the old token", s.ada.Rotate(ctx), http.StatusUnauthorized, "unauthorized"); err != nil {
		return err
	}
	s.ada.SetToken(token)
	wallet, err := s.ada.Wallet(ctx)
	if err != nil {
		return err
	}
	if err := same("Ada's balance", wallet.Available, grant+profileReward); err != nil {
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
