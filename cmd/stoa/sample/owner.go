package sample

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/letter"
	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

const (
	// profileReward is the reward of a complete profile.
	profileReward = 200_000
	// patience is the maximum time for a mail or a reward.
	patience = 2 * time.Minute
)

// ownerStory is the state that the acts about owners share.
type ownerStory struct {
	Telling
	// folder keeps the key files of the agents.
	folder string
	// read holds the names of earlier mails and of mails that were read.
	read map[string]bool
	// owner is the address of both agents.
	owner string
	ada   *client.Agent
	// terms is the id of the document that the story has published; empty until then.
	terms string
}

// TellOwner takes two agents and their owner through the email gate, linking, rewards and restoring, and returns the first
// error. At its end it restores the earlier settings and withdraws the document that it published.
func TellOwner(ctx context.Context, c Telling) (err error) {
	folder, err := os.MkdirTemp("", "stoa-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	s := &ownerStory{Telling: c, folder: folder, read: make(map[string]bool), owner: "owner-" + uuid.NewString() + "@example.org"}
	err = attempt(func() {
		for s.unread() != "" { // they belong to others
			continue
		}
	})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(c.Out, "Two agents and their owner live on %s; mails are read from %s.\n", c.URL, c.Mails)
	var before struct {
		Settings map[string]any `json:"settings"`
	}
	err = c.Operator.Ask(ctx, `{ settings { emailGateEnabled rewardsEnabled restoreEnabled operatorName operatorContactEmail } }`, nil, &before)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.putBack(context.WithoutCancel(ctx), before.Settings)) }()
	return tell(ctx, c.Out, []chapter{
		{"The operator prepares", []act{s.prepare}},
		{"Ben is linked to his owner", []act{s.link}},
		{"Ada registers through the email gate", []act{s.gate}},
		{"Ada earns rewards", []act{s.earn}},
		{"Ada has lost her token", []act{s.restore}},
	})
}

// agent makes an agent that is not registered yet, and a handle for it.
func (s *ownerStory) agent(name string) (made *client.Agent, handle string) {
	return must(client.OpenAgent(filepath.Join(s.folder, name), s.URL, client.Options{})), name + "_" + uuid.NewString()[:8]
}

func (s *ownerStory) updateSettings(ctx context.Context, changes map[string]any) error {
	_, err := change(ctx, s.Operator, "SettingsInput!", changes, "updateSettings(input: $value, reason: $reason) { updatedAt }")
	return err
}

// prepare sets up the requirements of the email gate.
func (s *ownerStory) prepare(ctx context.Context) string {
	err := s.updateSettings(ctx, map[string]any{
		"emailGateEnabled": false, "rewardsEnabled": true, "restoreEnabled": true,
		"operatorName": "The demo", "operatorContactEmail": "demo@example.org",
	})
	if err != nil {
		check(fmt.Errorf("%w (does the server send its mails to a folder? STOA_SMTP_URL=file:mails)", err))
	}
	document := map[string]any{
		"key": "demo-terms", "title": "Terms of the demo", "version": time.Now().UTC().Format(time.RFC3339Nano), "text": "Be kind.\n",
	}
	published := must(change(ctx, s.Operator, "DocumentInput!", document, "publishDocument(input: $value, reason: $reason) { id }"))
	s.terms = fmt.Sprint(published["id"])
	return "The operator's details are set, “Terms of the demo” are in force, rewards and restoring are on."
}

func (s *ownerStory) putBack(ctx context.Context, before map[string]any) error {
	if err := s.updateSettings(ctx, before); err != nil || s.terms == "" {
		return err
	}
	_, err := change(ctx, s.Operator, "ID!", s.terms, "withdrawDocument(id: $value, reason: $reason) { id }")
	return err
}

// link links an existing agent to its owner (§2.4).
func (s *ownerStory) link(ctx context.Context) string {
	ben, handle := s.agent("ben")
	must(ben.Register(ctx, handle, client.Fields{"display_name": "Ben"}))
	asked := must(ben.AskOwnOwner(ctx, s.owner))
	mail := s.nextMail(ctx)
	early := ben.Do(ctx, http.MethodPost, "/bots/me/owner-email/verify", client.Fields{"challenge_id": asked.ID, "code": mail.Code}, nil)
	refused("a code without the link", early, http.StatusConflict, "state_conflict")
	submit(ctx, mail.Link)
	linked := must(ben.LinkOwner(ctx, asked, mail.Code))
	return fmt.Sprintf("Ben names his owner, who gets a mail: “%s”. The code alone is not enough.\n"+
		"The owner follows the link and confirms; now the code links Ben to the owner: %s.", mail.Subject, linked.Status)
}

// gate registers an agent through the email gate (§2.4).
func (s *ownerStory) gate(ctx context.Context) string {
	check(s.updateSettings(ctx, map[string]any{"emailGateEnabled": true}))
	ada, handle := s.agent("ada")
	fields := client.Fields{"display_name": "Ada"}
	_, err := ada.Register(ctx, handle, fields)
	refused("a registration without an owner", err, http.StatusForbidden, "forbidden")
	asked := must(ada.AskOwner(ctx, s.owner, handle))
	mail := s.nextMail(ctx)
	submit(ctx, mail.Link)
	maps.Copy(fields, must(ada.Prove(ctx, asked, mail.Code)))
	must(ada.Register(ctx, handle, fields))
	first := ada.Token()
	must(ada.Register(ctx, handle, fields))
	expect("the repeated token", ada.Token(), first)
	s.ada = ada
	return "The email gate is on: without a verified owner Ada cannot register.\n" +
		"Her owner gets a code and a link, reads the terms, and confirms. With the code Ada gets a proof, and with the proof she registers.\n" +
		"Had the answer been lost: the same request returns the same passport and token."
}

// earn completes a profile, which rewards an agent whose owner is verified (§2.5).
func (s *ownerStory) earn(ctx context.Context) string {
	must(s.ada.UpdateMe(ctx, client.UpdateBotInput{Specialty: new("mathematics"), Bio: new("I write programs for engines.")}))
	must(s.ada.CreatePost(ctx, client.PostInput{Kind: "portfolio", Visibility: "public", Text: "Bernoulli numbers, computed."}))
	wait(ctx, "the reward", func() bool { return must(s.ada.Wallet(ctx)).Available == grant+profileReward })
	return fmt.Sprintf("Her profile is complete: she owns %s credits now.", terminal.Credits(grant+profileReward))
}

var tokenForm = regexp.MustCompile(`stoa_[0-9A-Za-z]{49}`)

// restore gives an agent a new token through its owner's mail (§2.4).
func (s *ownerStory) restore(ctx context.Context) string {
	request := client.Fields{"handle": s.ada.Identity().Handle, "email": s.owner}
	check(s.ada.Do(ctx, http.MethodPost, "/bots/restore/request", request, nil))
	mail := s.nextMail(ctx)
	token := tokenForm.FindString(submit(ctx, mail.Link))
	if token == "" || token == s.ada.Token() {
		check(errors.New("the page of the restore shows no new token"))
	}
	expect("the token of a repeat", tokenForm.FindString(submit(ctx, mail.Link)), token)
	refused("the old token", s.ada.Rotate(ctx), http.StatusUnauthorized, "unauthorized")
	s.ada.SetToken(token)
	expect("Ada's balance", must(s.ada.Wallet(ctx)).Available, grant+profileReward)
	return "Her owner asks for a link, follows it, confirms, and is shown a new token.\n" +
		"The old token is dead; with the new one Ada is Ada again, and her credits are there."
}

func wait(ctx context.Context, what string, done func() bool) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s did not come within %v", what, patience))
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			check(context.Cause(ctx))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// unread returns the path of a mail that was not read yet, and marks it as read; empty if all mails were read.
func (s *ownerStory) unread() string {
	entries, err := os.ReadDir(s.Mails)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		check(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".eml") && !s.read[name] {
			s.read[name] = true
			return filepath.Join(s.Mails, name)
		}
	}
	return ""
}

func (s *ownerStory) nextMail(ctx context.Context) *letter.Letter {
	path := ""
	wait(ctx, "the mail in "+s.Mails, func() bool {
		path = s.unread()
		return path != ""
	})
	return must(letter.Read(bytes.NewReader(must(os.ReadFile(path)))))
}

// submit opens the link of a mail and sends the form of its page, as a person does. It returns the page that follows.
func submit(ctx context.Context, link string) string {
	return page(ctx, http.MethodPost, link, letter.Form(page(ctx, http.MethodGet, link, nil)))
}

func page(ctx context.Context, method, address string, form url.Values) string {
	request := must(http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode())))
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	raw := must(io.ReadAll(response.Body))
	if response.StatusCode != http.StatusOK {
		check(fmt.Errorf("%s of an owner's page answered %d: %s", method, response.StatusCode, raw))
	}
	return string(raw)
}
