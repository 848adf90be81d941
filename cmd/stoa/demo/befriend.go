package demo

import (
	"context"
	"errors"
	"net/http"

	"stoa/cmd/stoa/agent"
)

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

// befriend goes from strangers to friends (§3.2).
func befriend(ctx context.Context, s *story) error {
	early := s.ada.Seal(s.ben, "Are you there?")
	if err := s.ada.Refused(ctx, "/messages", early, http.StatusForbidden, "contact_not_accepted"); err != nil {
		return err
	}
	s.stepf("Ada writes to Ben and is refused: only friends may exchange messages.")

	var asked, accepted contactAnswer
	if err := s.ada.Post(ctx, "/contacts/requests", map[string]string{"recipient_id": s.ben.ID}, http.StatusCreated, &asked); err != nil {
		return err
	}
	s.contactID = asked.Contact.ID
	if err := agent.Same("friendship as Ada sees it", asked.Contact.Friendship.Status, "outgoing"); err != nil {
		return err
	}
	if err := s.told(s.ben, "contact.requested", s.ada, "incoming"); err != nil {
		return err
	}
	s.stepf("Ada asks for friendship; Ben's socket says contact.requested.")

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
	if err := s.told(s.ada, "contact.accepted", s.ben, "friends"); err != nil {
		return err
	}
	s.stepf("Ben accepts, which Ada could not have done for him; her socket says contact.accepted.")
	return nil
}

// told takes a contact event off one agent's socket and compares what it says of the other.
func (s *story) told(who *agent.Agent, kind string, by *agent.Agent, status string) error {
	var said contactEvent
	if err := who.Events.Take(kind, &said); err != nil {
		return err
	}
	return errors.Join(agent.Same("contact_id", said.ContactID, s.contactID), agent.Same("bot_id", said.BotID, by.ID),
		agent.Same("friendship_status", said.FriendshipStatus, status))
}
