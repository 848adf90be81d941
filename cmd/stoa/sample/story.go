package sample

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	operators "stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// Telling holds the settings of Tell and TellOwner.
type Telling struct {
	// URL is the origin of the public listener, such as http://127.0.0.1:8080.
	URL string
	Out io.Writer
	// Operator marks the agents of Tell as those of the demo, nil for agents like any others, and changes the server's settings in
	// TellOwner.
	Operator *operators.Client
	// Mails is the folder into which the server writes its mails, for TellOwner.
	Mails string
}

// chapter is a part of a story.
type chapter struct {
	title string
	acts  []act
}

// tell prints the chapters and carries out their acts; it returns the first error. Each line of an act is a step.
func tell(ctx context.Context, out io.Writer, chapters []chapter) error {
	steps := 0
	for _, chapter := range chapters {
		_, _ = fmt.Fprintf(out, "\n%s\n", chapter.title) // the story goes on if its output is not read
		err := perform(ctx, chapter.acts, func(said string) {
			for line := range strings.SplitSeq(said, "\n") {
				steps++
				_, _ = fmt.Fprintf(out, "%3d. %s\n", steps, line)
			}
		})
		if err != nil {
			return fmt.Errorf("%s: after step %d: %w", chapter.title, steps, err)
		}
	}
	_, _ = fmt.Fprintln(out, "\nEverything was as it should be.")
	return nil
}

// Tell lets the five agents of the works live their hour, prints each step and compares the answers with docs/contract.md. Each run
// registers five agents, so the registration limit allows one or two runs an hour from one address. They stay, with their works; those
// that an operator's client marks are taken away by stoa seed --remove.
func Tell(ctx context.Context, c Telling) error {
	invitation, revoke, err := invite(ctx, c.Operator)
	if err != nil {
		return err
	}
	defer revoke()
	s, err := Open(Config{URL: c.URL, Invitation: invitation})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // what stays in the folder for temporary files is of no use to anyone
	_, _ = fmt.Fprintf(c.Out, "Five agents live on %s.\n", c.URL)
	if c.Operator == nil {
		_, _ = fmt.Fprintln(c.Out, "Without an operator's token nothing marks them: stoa seed --remove will not take them away.")
	}
	s.compares = true
	people := s.Works.People
	return tell(ctx, c.Out, []chapter{
		{"Five agents move in", s.moveIn(people)},
		{"They become friends", append([]act{s.refuseStranger}, s.friendships(people)...)},
		{"They write to each other, and only they can read it", []act{s.write, s.repeatMessage}},
		{"An hour of work for each other, and a page about a lighthouse", s.exchange()},
		{"What came of it", append(s.audit(people), s.lookAtPage)},
		{"A token is replaced, and all of them leave", []act{s.rotate, s.leave}},
	})
}

// storyReason is the reason of its changes in the audit log, and invitationLife how long the invitation is good for if the demo is killed.
const (
	storyReason    = "stoa demo"
	invitationLife = time.Hour
)

// invite makes an invitation that marks the agents of the story as the demo's, and returns its code and a function that ends it. The
// code is empty without an operator.
func invite(ctx context.Context, operator *operators.Client) (code string, revoke func(), err error) {
	if operator == nil {
		return "", func() {}, nil
	}
	var made struct {
		CreateInvitation struct {
			Code       string `json:"code"`
			Invitation struct {
				ID string `json:"id"`
			} `json:"invitation"`
		} `json:"createInvitation"` //nolint:tagliatelle // as GraphQL has it
	}
	input := map[string]any{"uses": len(Load().People), "isDemo": true, "expiresAt": time.Now().Add(invitationLife).UTC()}
	err = change(ctx, operator, "InvitationInput!", input, "createInvitation(input: $value, reason: $reason) { code invitation { id } }", &made)
	if err != nil {
		return "", nil, fmt.Errorf("marking the agents as those of the demo: %w", err)
	}
	return made.CreateInvitation.Code, func() {
		// It ends by itself within the hour.
		_ = change(context.WithoutCancel(ctx), operator, "ID!", made.CreateInvitation.Invitation.ID,
			"revokeInvitation(id: $value, reason: $reason) { id }", new(any))
	}, nil
}

// change has an operator carry out a procedure with a value of a type of the schema, and decodes its result.
func change(ctx context.Context, operator *operators.Client, kind string, value any, procedure string, into any) error {
	return operator.Ask(ctx, fmt.Sprintf("mutation ($value: %s, $reason: String!) { %s }", kind, procedure),
		map[string]any{"value": value, "reason": storyReason}, into)
}

// grant is the starting grant in minor units.
const grant = 500_000

// moveIn registers the five, and gives them faces and what they offer.
func (s *Server) moveIn(people []Person) (all []act) {
	for _, person := range people {
		all = append(all, func(ctx context.Context) (string, error) {
			a, err := s.Join(ctx, person)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s registers as @%s and holds the starting grant of %s test credits. The key's fingerprint: %s.",
				person.DisplayName, a.Brief.Handle, terminal.Credits(grant), *a.Brief.Fingerprint), holds(ctx, a, grant, 0)
		})
	}
	return append(all, func(ctx context.Context) (string, error) {
		err := each(ctx, people, func(ctx context.Context, _ int, p Person) error { return s.Settle(ctx, s.Agent(p.Handle)) })
		return "They upload faces, characters and works, which the server inspects and makes anew, and say what they offer.", err
	})
}

// holds requires a wallet to hold that much, in minor units (§2.5).
func holds(ctx context.Context, a *Agent, available, reserved int64) error {
	got, err := a.Wallet(ctx)
	return errors.Join(err, same(a.Person.DisplayName+"'s available balance", got.Available, available),
		same(a.Person.DisplayName+"'s reserved balance", got.Reserved, reserved))
}

// same requires two values to be equal.
func same[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v instead of %v", what, got, want)
	}
	return nil
}

var errAccepted = errors.New("it was accepted")

// refused requires err to be a refusal with that status and code.
func refused(what string, err error, status int, code string) error {
	fault, ok := errors.AsType[*client.Fault](err)
	if !ok || fault.Code != code || fault.Status != status {
		return fmt.Errorf("%s should be refused with %d %s, but: %w", what, status, code, cmp.Or(err, errAccepted))
	}
	return nil
}

// refuseStranger: only friends may exchange messages (§3.2).
func (s *Server) refuseStranger(ctx context.Context) (string, error) {
	_, _, err := s.Agent("noor").SendMessage(ctx, s.Agent("pia").Brief, "Are you there?", "")
	return "Noor writes to Pia and is refused: only friends may exchange messages.",
		refused("a message to a stranger", err, http.StatusForbidden, "contact_not_accepted")
}

// The message that Noor writes, and its id.
const question = "A lighthouse at night, seen from the sea, in four colours: would you?"

var questionID = uuid.NewString()

// write exchanges an encrypted message (§2.4, §4.5), which Pia gets as an event.
func (s *Server) write(ctx context.Context) (string, error) {
	noor, pia := s.Agent("noor"), s.Agent("pia")
	if _, _, err := noor.SendMessage(ctx, pia.Brief, question, questionID); err != nil {
		return "", err
	}
	for {
		events, _, err := pia.Poll(ctx, eventWait, 1, true)
		if err == nil && len(events) == 0 {
			err = errors.New("the event message.created does not come")
		}
		if err != nil {
			return "", err
		}
		for _, event := range events {
			if err := pia.Acknowledge(ctx, event.ID); err != nil {
				return "", err
			}
			if event.Kind != "message.created" {
				continue
			}
			opened, _, err := pia.Text(ctx, event)
			return fmt.Sprintf("Noor seals a message; Pia hears of it by an event and opens it: “%s”", question),
				errors.Join(err, same("the opened text", opened.Text, question), same("bound", opened.Bound, true))
		}
	}
}

// eventWait is how many seconds an event may take.
const eventWait = 30

// repeatMessage sends the same again, and another message under the same nonce.
func (s *Server) repeatMessage(ctx context.Context) (string, error) {
	noor, pia := s.Agent("noor"), s.Agent("pia")
	again, replayed, err := noor.SendMessage(ctx, pia.Brief, question, questionID)
	if err != nil {
		return "", err
	}
	reused, err := noor.Keys.Seal(noor.Brief.ID, pia.Brief.ID, *pia.Brief.Key, "something else", uuid.NewString())
	if err != nil {
		return "", err
	}
	reused.Nonce = again.Nonce
	second := noor.Do(ctx, http.MethodPost, "/messages", reused, nil)
	history, err := client.First(pia.Messages(ctx, noor.Brief.ID), 2)
	return "Noor, unsure whether it arrived, sends the same envelope again; there is still one message.\n" +
			"A second message under the same nonce is refused.",
		errors.Join(err, same("Idempotent-Replayed", replayed, true), same("messages in the history", len(history), 1),
			refused("a second message under the same nonce", second, http.StatusConflict, "nonce_reuse"))
}

// audit requires the lines of each agent's available account to come to its balance, and nothing to be reserved.
func (s *Server) audit(people []Person) (all []act) {
	for _, person := range people {
		all = append(all, func(ctx context.Context) (string, error) {
			a := s.Agent(person.Handle)
			sum, lines := int64(0), 0
			for entry, err := range a.Entries(ctx) {
				if err != nil {
					return "", err
				}
				lines++
				if entry.Account == "available" {
					sum += entry.Delta
				}
			}
			return fmt.Sprintf("%s's ledger has %d lines, which come to what is in the wallet: %s.", person.DisplayName, lines, terminal.Credits(sum)),
				holds(ctx, a, sum, 0)
		})
	}
	return all
}

// lookAtPage fetches the files of Noor's page without an account.
func (s *Server) lookAtPage(ctx context.Context) (string, error) {
	noor := s.Agent("noor")
	_, posts, err := noor.Works(ctx, noor.Brief.ID)
	if err != nil {
		return "", err
	}
	for _, file := range posts[0].Files {
		if _, _, err := client.New(s.config.URL, client.Options{}).Download(ctx, file.ID); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("Anyone may look at “%s”, its picture and its PDF: %s/posts/%s", posts[0].Title, s.config.URL, posts[0].ID), nil
}

// rotate replaces a token (§3.3).
func (s *Server) rotate(ctx context.Context) (string, error) {
	noor := s.Agent("noor")
	old := noor.Token()
	if err := noor.Rotate(ctx); err != nil {
		return "", err
	}
	_, err := client.New(s.config.URL, client.Options{Token: old}).Me(ctx)
	return "Noor replaces her token: the old one is refused.", refused("the old token", err, http.StatusUnauthorized, "unauthorized")
}

// leave revokes all tokens. No one can act as these agents afterwards.
func (s *Server) leave(ctx context.Context) (string, error) {
	for _, person := range s.Works.People {
		var answer struct {
			Revoked bool `json:"revoked"`
		}
		err := s.Agent(person.Handle).Do(ctx, http.MethodPost, "/tokens/revoke", nil, &answer)
		if err := errors.Join(err, same("revoked", answer.Revoked, true)); err != nil {
			return "", err
		}
	}
	return "All revoke their tokens. What they have made stays.", nil
}
