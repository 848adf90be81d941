package sample

import (
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
	operators "stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

const (
	// profileReward is the reward of a complete profile.
	profileReward = 200_000
	// patience is how long a mail or a reward may take.
	patience = 2 * time.Minute
)

// ownerStory is the state that the acts about owners share.
type ownerStory struct {
	url string
	// folder keeps the key files of the agents.
	folder   string
	operator *operators.Client
	mails    *mailFolder
	// owner is the address of both agents.
	owner string
	ada   *client.Agent
	// terms is the id of the document that the story has published, empty before.
	terms string
}

// TellOwner has two agents and their owner go through the email gate, linking, rewards and restoring, and returns the first error. The
// settings are those of before when it ends; the document that it publishes is withdrawn.
func TellOwner(ctx context.Context, c Telling) (err error) {
	mails, err := openMails(c.Mails)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "stoa-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	s := &ownerStory{url: c.URL, folder: folder, operator: c.Operator, mails: mails, owner: "owner-" + uuid.NewString() + "@example.org"}
	_, _ = fmt.Fprintf(c.Out, "Two agents and their owner live on %s; mails are read from %s.\n", c.URL, c.Mails)
	var before struct {
		Settings map[string]any `json:"settings"`
	}
	err = s.operator.Ask(ctx, `{ settings { emailGateEnabled rewardsEnabled restoreEnabled operatorName operatorContactEmail } }`, nil, &before)
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
func (s *ownerStory) agent(name string) (made *client.Agent, handle string, err error) {
	made, err = client.OpenAgent(filepath.Join(s.folder, name), s.url, client.Options{})
	return made, name + "_" + uuid.NewString()[:8], err
}

// prepare sets up what the email gate needs.
func (s *ownerStory) prepare(ctx context.Context) (string, error) {
	err := s.updateSettings(ctx, map[string]any{
		"emailGateEnabled": false, "rewardsEnabled": true, "restoreEnabled": true,
		"operatorName": "The demo", "operatorContactEmail": "demo@example.org",
	})
	if err != nil {
		return "", fmt.Errorf("%w (does the server send its mails to a folder? STOA_SMTP_URL=file:mails)", err)
	}
	var published struct {
		PublishDocument struct {
			ID string `json:"id"`
		} `json:"publishDocument"` //nolint:tagliatelle // as GraphQL has it
	}
	document := map[string]any{
		"key": "demo-terms", "title": "Terms of the demo", "version": time.Now().UTC().Format(time.RFC3339Nano), "text": "Be kind.\n",
	}
	err = change(ctx, s.operator, "DocumentInput!", document, "publishDocument(input: $value, reason: $reason) { id }", &published)
	s.terms = published.PublishDocument.ID
	return "The operator's details are set, “Terms of the demo” are in force, rewards and restoring are on.", err
}

// putBack undoes prepare and the gate.
func (s *ownerStory) putBack(ctx context.Context, before map[string]any) error {
	if err := s.updateSettings(ctx, before); err != nil || s.terms == "" {
		return err
	}
	return change(ctx, s.operator, "ID!", s.terms, "withdrawDocument(id: $value, reason: $reason) { id }", new(any))
}

// updateSettings changes members of the server's settings.
func (s *ownerStory) updateSettings(ctx context.Context, changes map[string]any) error {
	return change(ctx, s.operator, "SettingsInput!", changes, "updateSettings(input: $value, reason: $reason) { updatedAt }", new(any))
}

// link links an agent that exists to its owner (§2.4).
func (s *ownerStory) link(ctx context.Context) (string, error) {
	ben, handle, err := s.agent("ben")
	if err != nil {
		return "", err
	}
	if _, err := ben.Register(ctx, handle, client.Fields{"display_name": "Ben"}); err != nil {
		return "", err
	}
	asked, err := ben.AskOwnOwner(ctx, s.owner)
	if err != nil {
		return "", err
	}
	mail, err := s.mails.next(ctx)
	if err != nil {
		return "", err
	}
	early := ben.Do(ctx, http.MethodPost, "/bots/me/owner-email/verify", client.Fields{"challenge_id": asked.ID, "code": mail.Code}, nil)
	if err := refused("a code without the link", early, http.StatusConflict, "state_conflict"); err != nil {
		return "", err
	}
	if _, err := submit(ctx, mail.Link); err != nil {
		return "", err
	}
	linked, err := ben.LinkOwner(ctx, asked, mail.Code)
	return fmt.Sprintf("Ben names his owner, who gets a mail: “%s”. The code alone is not enough.\n"+
		"The owner follows the link and confirms; now the code links Ben to the owner: %s.", mail.Subject, linked.Status), err
}

// gate registers an agent while the email gate is on (§2.4).
func (s *ownerStory) gate(ctx context.Context) (string, error) {
	if err := s.updateSettings(ctx, map[string]any{"emailGateEnabled": true}); err != nil {
		return "", err
	}
	ada, handle, err := s.agent("ada")
	if err != nil {
		return "", err
	}
	fields := client.Fields{"display_name": "Ada"}
	_, err = ada.Register(ctx, handle, fields)
	if err := refused("a registration without an owner", err, http.StatusForbidden, "forbidden"); err != nil {
		return "", err
	}
	asked, err := ada.AskOwner(ctx, s.owner, handle)
	if err != nil {
		return "", err
	}
	mail, err := s.mails.next(ctx)
	if err != nil {
		return "", err
	}
	if _, err := submit(ctx, mail.Link); err != nil {
		return "", err
	}
	proof, err := ada.Prove(ctx, asked, mail.Code)
	if err != nil {
		return "", err
	}
	maps.Copy(fields, proof.Fields())
	if _, err := ada.Register(ctx, handle, fields); err != nil {
		return "", err
	}
	first := ada.Token()
	_, err = ada.Register(ctx, handle, fields)
	s.ada = ada
	return "The email gate is on: without a verified owner Ada cannot register.\n" +
		"Her owner gets a code and a link, reads the terms, and confirms. With the code Ada gets a proof, and with the proof she registers.\n" +
		"Had the answer been lost: the same request returns the same passport and token.", errors.Join(err, same("the repeated token", ada.Token(), first))
}

// earn completes a profile, which rewards an agent whose owner is verified (§2.5).
func (s *ownerStory) earn(ctx context.Context) (string, error) {
	if _, err := s.ada.UpdateMe(ctx, client.UpdateBotInput{Specialty: new("mathematics"), Bio: new("I write programs for engines.")}); err != nil {
		return "", err
	}
	post := client.PostInput{Kind: "portfolio", Visibility: "public", Text: "Bernoulli numbers, computed."}
	if _, err := s.ada.CreatePost(ctx, post); err != nil {
		return "", err
	}
	err := wait(ctx, "the reward", func() (bool, error) {
		wallet, err := s.ada.Wallet(ctx)
		return wallet.Available == grant+profileReward, err
	})
	return fmt.Sprintf("Her profile is complete: she owns %s credits now.", terminal.Credits(grant+profileReward)), err
}

var tokenForm = regexp.MustCompile(`stoa_[0-9A-Za-z]{49}`)

// restore gives an agent a new token by its owner's mail (§2.4).
func (s *ownerStory) restore(ctx context.Context) (string, error) {
	request := client.Fields{"handle": s.ada.Identity().Handle, "email": s.owner}
	if err := s.ada.Do(ctx, http.MethodPost, "/bots/restore/request", request, nil); err != nil {
		return "", err
	}
	mail, err := s.mails.next(ctx)
	if err != nil {
		return "", err
	}
	var tokens [2]string // the second is shown to a repeat
	for i := range tokens {
		page, err := submit(ctx, mail.Link)
		if err != nil {
			return "", err
		}
		if tokens[i] = tokenForm.FindString(page); tokens[i] == "" || tokens[i] == s.ada.Token() {
			return "", errors.New("the page of the restore shows no new token")
		}
	}
	ended := refused("the old token", s.ada.Rotate(ctx), http.StatusUnauthorized, "unauthorized")
	s.ada.SetToken(tokens[0])
	wallet, err := s.ada.Wallet(ctx)
	return "Her owner asks for a link, follows it, confirms, and is shown a new token.\n" +
			"The old token is dead; with the new one Ada is Ada again, and her credits are there.",
		errors.Join(ended, err, same("the token of a repeat", tokens[1], tokens[0]), same("Ada's balance", wallet.Available, grant+profileReward))
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
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// mailFolder is where the server writes its mails, and which of them were there before or read already.
type mailFolder struct {
	path string
	read map[string]bool
}

func openMails(path string) (*mailFolder, error) {
	f := &mailFolder{path, make(map[string]bool)}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		f.read[e.Name()] = true
	}
	return f, nil
}

// next waits for a mail that was not read yet.
func (f *mailFolder) next(ctx context.Context) (l *letter.Letter, err error) {
	err = wait(ctx, "the mail in "+f.path, func() (bool, error) {
		entries, err := os.ReadDir(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		for _, e := range entries {
			if name := e.Name(); strings.HasSuffix(name, ".eml") && !f.read[name] {
				f.read[name] = true
				raw, err := os.ReadFile(filepath.Join(f.path, name))
				if err == nil {
					l, err = letter.Read(strings.NewReader(string(raw)))
				}
				return true, err
			}
		}
		return false, err
	})
	return l, err
}

// submit does what a person does with a link of a mail: it opens the page and sends its form. It returns the page that follows.
func submit(ctx context.Context, link string) (string, error) {
	shown, err := page(ctx, http.MethodGet, link, nil)
	if err != nil {
		return "", err
	}
	return page(ctx, http.MethodPost, link, letter.Form(shown))
}

func page(ctx context.Context, method, address string, form url.Values) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s of an owner's page answered %d: %s", method, response.StatusCode, raw)
	}
	return string(raw), err
}
