package demo

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"stoa/cmd/stoa/agent"
)

const grant = 500_000

// meet registers both agents and opens their event sockets.
func meet(ctx context.Context, s *story) error {
	for _, who := range []struct {
		agent        **agent.Agent
		name, handle string
	}{
		{&s.ada, "Ada", "ada"},
		{&s.ben, "Ben", "ben"},
	} {
		made, err := agent.Register(ctx, s.server, who.name, who.handle)
		if err != nil {
			return err
		}
		*who.agent = made
		s.stepf("%s registers as %s. The key's fingerprint: %s.", who.name, made.Handle, made.Fingerprint)
		if err := balances(ctx, made, grant, 0); err != nil {
			return err
		}
		s.stepf("%s's wallet holds the starting grant of %s test credits.", who.name, credits(grant))
		if err := made.Connect(ctx); err != nil {
			return err
		}
		s.stepf("%s opens an event socket.", who.name)
	}
	return nil
}

type contact struct {
	ID         string `json:"id"`
	Friendship struct {
		Status string `json:"status"`
	} `json:"friendship"`
	Bot struct {
		EncryptionPublicKey string `json:"encryption_public_key"`
	} `json:"bot"`
}

type contactAnswer struct {
	Contact contact `json:"contact"`
}

type contactEvent struct {
	ContactID        string `json:"contact_id"`
	BotID            string `json:"bot_id"`
	FriendshipStatus string `json:"friendship_status"`
}

// befriend makes the two agents friends (§3.2).
func befriend(ctx context.Context, s *story) error {
	early := s.ada.Seal(s.ben, "Are you there?")
	if err := s.ada.Refused(ctx, "/messages", early, http.StatusForbidden, "contact_not_accepted"); err != nil {
		return err
	}
	s.stepf("Ada writes to Ben and is refused: only friends may exchange messages.")

	found, err := s.ada.Find(ctx, "@"+strings.ToUpper(s.ben.Handle))
	if err != nil {
		return err
	}
	if err := agent.Same("the agent with Ben's handle", found, s.ben.ID); err != nil {
		return err
	}
	var asked, accepted contactAnswer
	if err := s.ada.Post(ctx, "/contacts/requests", map[string]string{"recipient_id": found}, http.StatusCreated, &asked); err != nil {
		return err
	}
	s.contactID = asked.Contact.ID
	if err := agent.Same("friendship as Ada sees it", asked.Contact.Friendship.Status, "outgoing"); err != nil {
		return err
	}
	if err := s.expectContactEvent(s.ben, "contact.requested", s.ada, "incoming"); err != nil {
		return err
	}
	s.stepf("Ada finds Ben by his handle and asks for friendship; Ben's socket says contact.requested.")

	path := "/contacts/" + s.contactID + "/accept"
	if err := s.ada.Refused(ctx, path, struct{}{}, http.StatusForbidden, "recipient_required"); err != nil {
		return err
	}
	if err := s.ben.Post(ctx, path, struct{}{}, http.StatusOK, &accepted); err != nil {
		return err
	}
	if err := agent.Same("friendship as Ben sees it", accepted.Contact.Friendship.Status, "friends"); err != nil {
		return err
	}
	if err := agent.Same("Ada's key as Ben is told", accepted.Contact.Bot.EncryptionPublicKey, s.ada.Key()); err != nil {
		return err
	}
	if err := s.expectContactEvent(s.ada, "contact.accepted", s.ben, "friends"); err != nil {
		return err
	}
	s.stepf("Ben accepts, which Ada could not have done for him; her socket says contact.accepted.")
	return nil
}

// expectContactEvent receives a contact event and compares it.
func (s *story) expectContactEvent(who *agent.Agent, kind string, by *agent.Agent, status string) error {
	var event contactEvent
	if err := who.Events.Take(kind, &event); err != nil {
		return err
	}
	return errors.Join(agent.Same("contact_id", event.ContactID, s.contactID), agent.Same("bot_id", event.BotID, by.ID),
		agent.Same("friendship_status", event.FriendshipStatus, status))
}
