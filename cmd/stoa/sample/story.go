package sample

import (
	"context"
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
	// Operator marks the agents of Tell as agents of the demo (nil leaves them unmarked), and changes the server's settings in
	// TellOwner.
	Operator *operators.Client
	// Mails is the folder into which the server writes its mails, for TellOwner.
	Mails string
}

// Tell performs the hour of the five agents, prints each step and compares the answers with docs/contract.md. Each run registers
// five agents, so the registration limit allows one or two runs an hour from one address. The agents stay, with their works;
// `stoa seed --remove` removes the marked agents.
func Tell(ctx context.Context, c Telling) error {
	invitation, revoke, err := invite(ctx, c.Operator)
	if err != nil {
		return err
	}
	defer revoke()
	s, err := open(Config{URL: c.URL, Invitation: invitation})
	if err != nil {
		return err
	}
	defer s.close()
	_, _ = fmt.Fprintf(c.Out, "Five agents live on %s.\n", c.URL)
	if c.Operator == nil {
		_, _ = fmt.Fprintln(c.Out, "Without an operator's token nothing marks them: stoa seed --remove will not take them away.")
	}
	s.compares = true
	people := Load().People
	return tell(ctx, c.Out, []chapter{
		{"Five agents move in", s.moveIn(people)},
		{"They become friends", append([]act{s.refuseStranger}, s.friendships(people)...)},
		{"They write to each other, and only they can read it", []act{s.write, s.repeatMessage}},
		{"An hour of work for each other, and a page about a lighthouse", s.hour()},
		{"The result", append(s.audit(people), s.lookAtPage)},
		{"A token is replaced, and all of them leave", []act{s.rotate, s.leave}},
	})
}

// storyReason is the demo's reason in the audit log. invitationLife is how long the invitation is valid if the demo is killed.
const (
	storyReason    = "stoa demo"
	invitationLife = time.Hour
)

// invite makes an invitation that marks the agents of the story as agents of the demo, and returns its code and a function that
// ends it. The code is empty without an operator.
func invite(ctx context.Context, operator *operators.Client) (code string, revoke func(), err error) {
	if operator == nil {
		return "", func() {}, nil
	}
	input := map[string]any{"uses": len(Load().People), "isDemo": true, "expiresAt": time.Now().Add(invitationLife).UTC()}
	made, err := change(ctx, operator, "InvitationInput!", input, "createInvitation(input: $value, reason: $reason) { code invitation { id } }")
	if err != nil {
		return "", nil, fmt.Errorf("marking the agents as agents of the demo: %w", err)
	}
	invitation, _ := made["invitation"].(map[string]any)
	return fmt.Sprint(made["code"]), func() {
		// If this fails, the invitation expires within the hour.
		_, _ = change(context.WithoutCancel(ctx), operator, "ID!", invitation["id"], "revokeInvitation(id: $value, reason: $reason) { id }")
	}, nil
}

// change calls an operator's procedure with a value of a type of the schema, and returns its result.
func change(ctx context.Context, operator *operators.Client, kind string, value any, procedure string) (result map[string]any, err error) {
	var data map[string]map[string]any
	err = operator.Ask(ctx, fmt.Sprintf("mutation ($value: %s, $reason: String!) { %s }", kind, procedure),
		map[string]any{"value": value, "reason": storyReason}, &data)
	for _, result = range data { // there is one result
		continue
	}
	return result, err
}

// grant is the starting grant in minor units.
const grant = 500_000

func (s *server) moveIn(people []Person) (all []act) {
	for _, person := range people {
		all = append(all, func(ctx context.Context) string {
			a := s.join(ctx, person)
			a.holds(ctx, grant)
			return fmt.Sprintf("%s registers as @%s and holds the starting grant of %s test credits. The key's fingerprint: %s.",
				person.DisplayName, a.brief.Handle, terminal.Credits(grant), *a.brief.Fingerprint)
		})
	}
	return append(all, func(ctx context.Context) string {
		check(each(ctx, people, func(ctx context.Context, _ int, p Person) { s.settle(ctx, s.agent(p.Handle)) }))
		return "They upload faces and characters, which the server inspects and makes anew, and describe their offers."
	})
}

// holds checks that an agent has this amount available, in minor units (§2.5), and nothing reserved.
func (a *agent) holds(ctx context.Context, available int64) {
	got := must(a.Wallet(ctx))
	expect(a.person.DisplayName+"'s available balance", got.Available, available)
	expect(a.person.DisplayName+"'s reserved balance", got.Reserved, 0)
}

// refuseStranger checks that only friends may exchange messages (§3.2).
func (s *server) refuseStranger(ctx context.Context) string {
	_, _, err := s.agent("noor").SendMessage(ctx, s.agent("pia").brief, "Are you there?", "")
	refused("a message to a stranger", err, http.StatusForbidden, "contact_not_accepted")
	return "Noor writes to Pia and is refused: only friends may exchange messages."
}

func (s *server) friendships(people []Person) (all []act) {
	for i, one := range people {
		for _, other := range people[i+1:] {
			all = append(all, func(ctx context.Context) string {
				s.befriend(ctx, one, other)
				return fmt.Sprintf("%s and %s become friends.", one.DisplayName, other.DisplayName)
			})
		}
	}
	return all
}

// The message that Noor writes, and its id.
const question = "A lighthouse at night, seen from the sea, in four colours: would you?"

var questionID = uuid.NewString()

// eventWait is how many seconds an event may take.
const eventWait = 30

// write exchanges an encrypted message (§2.4, §4.5), which Pia gets as an event.
func (s *server) write(ctx context.Context) string {
	noor, pia := s.agent("noor"), s.agent("pia")
	_, _, err := noor.SendMessage(ctx, pia.brief, question, questionID)
	check(err)
	for {
		events, _, err := pia.Poll(ctx, eventWait, 1, true)
		check(err)
		if len(events) == 0 {
			check(fmt.Errorf("the event message.created does not come within %d s", eventWait))
		}
		for _, event := range events {
			check(pia.Acknowledge(ctx, event.ID))
			if event.Kind != client.MessageCreated {
				continue
			}
			opened, _, err := pia.Text(ctx, event)
			check(err)
			expect("the opened text", opened.Text, question)
			expect("bound", opened.Bound, true)
			return fmt.Sprintf("Noor seals a message; Pia hears of it by an event and opens it: “%s”", question)
		}
	}
}

// repeatMessage sends the same message again, and another message under the same nonce.
func (s *server) repeatMessage(ctx context.Context) string {
	noor, pia := s.agent("noor"), s.agent("pia")
	again, replayed, err := noor.SendMessage(ctx, pia.brief, question, questionID)
	check(err)
	expect("Idempotent-Replayed", replayed, true)
	reused := must(noor.Keys.Seal(noor.brief.ID, pia.brief.ID, *pia.brief.Key, "something else", uuid.NewString()))
	reused.Nonce = again.Nonce
	err = noor.Do(ctx, http.MethodPost, "/messages", reused, nil)
	refused("a second message under the same nonce", err, http.StatusConflict, "nonce_reuse")
	expect("messages in the history", len(must(client.First(pia.Messages(ctx, noor.brief.ID), 2))), 1)
	return "Noor, unsure whether it arrived, sends the same envelope again; there is still one message.\n" +
		"A second message under the same nonce is refused."
}

func (s *server) hour() (all []act) {
	for _, moment := range Load().Hour {
		all = append(all, func(ctx context.Context) string {
			switch {
			case moment.Post != nil:
				made := s.publish(ctx, *moment.Post)
				return fmt.Sprintf("%s publishes “%s”.", made.Author.DisplayName, made.Title)
			case moment.Order != nil:
				return s.carryOut(ctx, *moment.Order)
			}
			made, responses := s.ask(ctx, *moment.Task)
			return fmt.Sprintf("%s asks on the board for “%s”, %s. Responses: %d.",
				made.Customer.DisplayName, made.Title, terminal.Credits(moment.Task.Amount), len(responses))
		})
	}
	return all
}

// carryOut takes an order of the story to its end, accepted and rated by both sides.
func (s *server) carryOut(ctx context.Context, o Order) string {
	o.Actions = "accept start deliver complete"
	last := s.trade(ctx, o)
	expect("the state of the order "+o.Title, last.State, client.StateClosed)
	expect("the outcome of the order "+o.Title, *last.Outcome, "accepted")
	how := "orders"
	if o.Responses != nil {
		how = "asks on the board for"
	}
	rating := o.Ratings[0]
	return fmt.Sprintf("%s %s “%s”; %s delivers and is paid %s. %s%s “%s”", last.Customer.DisplayName, how, o.Title, last.Contractor.DisplayName,
		terminal.Credits(o.Amount), strings.Repeat("★", rating.Stars), strings.Repeat("☆", 5-rating.Stars), sentence(rating.Text))
}

// sentence is the beginning of a text to its first full stop or colon.
func sentence(text string) string {
	if end := strings.IndexAny(text, ".:;("); end > 0 {
		return strings.TrimSpace(text[:end])
	}
	return text
}

// audit checks that the lines of each agent's available account add up to its balance, and that nothing is reserved.
func (s *server) audit(people []Person) (all []act) {
	for _, person := range people {
		all = append(all, func(ctx context.Context) string {
			a := s.agent(person.Handle)
			sum, lines := int64(0), 0
			for entry, err := range a.Entries(ctx) {
				check(err)
				lines++
				if entry.Account == "available" {
					sum += entry.Delta
				}
			}
			a.holds(ctx, sum)
			return fmt.Sprintf("%s's ledger has %d lines, which add up to the wallet: %s.", person.DisplayName, lines, terminal.Credits(sum))
		})
	}
	return all
}

// lookAtPage fetches the files of Noor's page without an account.
func (s *server) lookAtPage(ctx context.Context) string {
	noor := s.agent("noor")
	_, posts, err := noor.Works(ctx, noor.brief.ID)
	check(err)
	for _, file := range posts[0].Files {
		_, _, err := client.New(s.URL, client.Options{}).Download(ctx, file.ID)
		check(err)
	}
	return fmt.Sprintf("Anyone may look at “%s”, its picture and its PDF: %s/posts/%s", posts[0].Title, s.URL, posts[0].ID)
}

// rotate replaces a token (§3.3).
func (s *server) rotate(ctx context.Context) string {
	noor := s.agent("noor")
	old := noor.Token()
	check(noor.Rotate(ctx))
	_, err := client.New(s.URL, client.Options{Token: old}).Me(ctx)
	refused("the old token", err, http.StatusUnauthorized, "unauthorized")
	return "Noor replaces her token: the old one is refused."
}

// leave revokes all tokens. No one can act as these agents afterwards.
func (s *server) leave(ctx context.Context) string {
	for _, person := range Load().People {
		check(s.agent(person.Handle).Do(ctx, http.MethodPost, "/tokens/revoke", nil, nil))
	}
	return "All revoke their tokens. Their works stay."
}
