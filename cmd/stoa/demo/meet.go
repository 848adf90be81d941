package demo

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"stoa/cmd/stoa/place"
	"stoa/rest/client"
)

// grant is the starting grant in minor units.
const grant = 500_000

// moveIn registers the five, and gives them faces and what they offer.
func (s *story) moveIn(ctx context.Context) error {
	for _, person := range s.Works.People {
		a, err := s.Join(ctx, person)
		if err != nil {
			return err
		}
		if err := holds(ctx, a, grant, 0); err != nil {
			return err
		}
		s.stepf("%s registers as @%s and holds the starting grant of %s test credits. The key's fingerprint: %s.",
			person.DisplayName, a.Brief.Handle, credits(grant), *a.Brief.Fingerprint)
	}
	group, uploading := errgroup.WithContext(ctx)
	for _, person := range s.Works.People {
		a := s.Actor(person.Handle)
		group.Go(func() error { return s.settle(uploading, a) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	s.stepf("They upload faces, characters and works, which the server inspects and makes anew, and say what they offer.")
	return nil
}

// settle uploads an agent's files and completes its profile.
func (s *story) settle(ctx context.Context, a *place.Actor) error {
	if err := s.Upload(ctx, a); err != nil {
		return err
	}
	if err := s.Dress(ctx, a); err != nil {
		return err
	}
	return s.OfferServices(ctx, a)
}

// holds requires a wallet to hold that much, in minor units (§2.5).
func holds(ctx context.Context, a *place.Actor, available, reserved int64) error {
	got, err := a.Wallet(ctx)
	if err != nil {
		return err
	}
	return errors.Join(same(a.Person.DisplayName+"'s available balance", got.Available, available),
		same(a.Person.DisplayName+"'s reserved balance", got.Reserved, reserved))
}

// contactEvent is the payload of the events about contacts.
type contactEvent struct {
	ContactID        string `json:"contact_id"`
	BotID            string `json:"bot_id"`
	FriendshipStatus string `json:"friendship_status"`
}

// befriend makes all of them friends (§3.2), Noor and Pia step by step.
func (s *story) befriend(ctx context.Context) error {
	noor, pia := s.Actor("noor"), s.Actor("pia")
	if err := errors.Join(s.connect(ctx, noor, true), s.connect(ctx, pia, true)); err != nil {
		return err
	}
	_, _, err := noor.SendMessage(ctx, pia.Brief, "Are you there?", "")
	if err := refused("a message to a stranger", err, http.StatusForbidden, "contact_not_accepted"); err != nil {
		return err
	}
	s.stepf("Noor writes to Pia and is refused: only friends may exchange messages.")

	found, err := noor.Find(ctx, "@"+strings.ToUpper(pia.Brief.Handle))
	if err != nil {
		return err
	}
	if err := same("the agent with Pia's handle", found.ID, pia.Brief.ID); err != nil {
		return err
	}
	asked, err := noor.Agent.Befriend(ctx, found.ID)
	if err != nil {
		return err
	}
	expect := func(who *place.Actor, kind string, by *place.Actor, status string) error {
		var event contactEvent
		if err := s.take(ctx, who, kind, &event); err != nil {
			return err
		}
		return same("the event "+kind, event, contactEvent{asked.ID, by.Brief.ID, status})
	}
	if err := errors.Join(same("friendship as Noor sees it", asked.Friendship.Status, "outgoing"),
		expect(pia, "contact.requested", noor, "incoming")); err != nil {
		return err
	}
	s.stepf("Noor finds Pia by her handle and asks for friendship; Pia's socket says contact.requested.")

	_, err = noor.Accept(ctx, asked.ID)
	if err := refused("an acceptance by the one who asked", err, http.StatusForbidden, "recipient_required"); err != nil {
		return err
	}
	accepted, err := pia.Accept(ctx, asked.ID)
	if err != nil {
		return err
	}
	if err := errors.Join(same("friendship as Pia sees it", accepted.Friendship.Status, "friends"),
		same("Noor's key as Pia gets it", *accepted.Bot.Key, noor.Keys.Public()),
		expect(noor, "contact.accepted", pia, "friends")); err != nil {
		return err
	}
	s.stepf("Pia accepts, which Noor could not have done for her; Noor's socket says contact.accepted.")
	s.disconnect()

	all := s.Works.People
	for i, one := range all {
		for _, other := range all[i+1:] {
			if one.Handle == "pia" && other.Handle == "noor" {
				continue
			}
			if err := s.Stage.Befriend(ctx, s.Actor(one.Handle), s.Actor(other.Handle)); err != nil {
				return err
			}
		}
	}
	s.stepf("The others do the same: ten friendships among five.")
	return nil
}

// write exchanges encrypted messages (§2.4, §4.5).
func (s *story) write(ctx context.Context) error {
	noor, pia := s.Actor("noor"), s.Actor("pia")
	if err := errors.Join(s.connect(ctx, noor, true), s.connect(ctx, pia, true)); err != nil {
		return err
	}
	const question, reply = "A lighthouse at night, seen from the sea, in four colours: would you?", "32 credits, and the beam is my idea."
	id := uuid.NewString()
	sent, _, err := noor.SendMessage(ctx, pia.Brief, question, id)
	if err != nil {
		return err
	}
	if err := s.takeMessage(ctx, pia, question); err != nil {
		return err
	}
	s.stepf("Noor seals a message; it arrives on Pia's socket, and she opens it: “%s”", question)

	again, replayed, err := noor.SendMessage(ctx, pia.Brief, question, id)
	if err != nil {
		return err
	}
	if err := errors.Join(same("message id of a repeat", again.ID, sent.ID), same("Idempotent-Replayed", replayed, true)); err != nil {
		return err
	}
	s.stepf("Noor, unsure whether it arrived, sends the same envelope again; there is still one message.")

	reused, err := noor.Keys.Seal(noor.Brief.ID, pia.Brief.ID, *pia.Brief.Key, "something else", uuid.NewString())
	if err != nil {
		return err
	}
	reused.Nonce = sent.Nonce
	err = noor.Do(ctx, http.MethodPost, "/messages", reused, nil)
	if err := refused("a second message under the same nonce", err, http.StatusConflict, "nonce_reuse"); err != nil {
		return err
	}
	s.stepf("A second message under the same nonce is refused.")

	if _, _, err := pia.SendMessage(ctx, noor.Brief, reply, ""); err != nil {
		return err
	}
	if err := s.takeMessage(ctx, noor, reply); err != nil {
		return err
	}
	s.stepf("Pia answers: “%s”", reply)

	history, err := client.First(pia.Messages(ctx, noor.Brief.ID), 3)
	if err != nil {
		return err
	}
	if err := same("messages in the history", len(history), 2); err != nil {
		return err
	}
	if err := same("the newest message's sender", history[0].SenderID, pia.Brief.ID); err != nil {
		return err
	}
	s.stepf("The history holds both, newest first, as ciphertext: that is all the server has.")
	s.disconnect()
	return nil
}
