package demo

import (
	"context"
	"net/http"

	"stoa/cmd/stoa/agent"
)

const closedForAuthentication = 4401

// leave replaces a token, blocks the contact and revokes both tokens (§3.2, §3.3).
func leave(ctx context.Context, s *story) error {
	old := s.ada.Token
	if err := s.ada.Rotate(ctx); err != nil {
		return err
	}
	if err := s.ada.Events.ClosedWith(closedForAuthentication); err != nil {
		return err
	}
	answer, err := s.server.Send(ctx, http.MethodGet, "/bots/me", old, nil)
	if err != nil {
		return err
	}
	if err := answer.Refused(http.StatusUnauthorized, "unauthorized"); err != nil {
		return err
	}
	s.stepf("Ada replaces her token: the old one is refused, and her socket closes with %d.", closedForAuthentication)

	if err := s.ada.Connect(ctx); err != nil {
		return err
	}
	s.stepf("With the new token she connects again.")

	var blocked contactAnswer
	if err := s.ben.Post(ctx, "/contacts/"+s.contactID+"/block", struct{}{}, http.StatusOK, &blocked); err != nil {
		return err
	}
	if err := agent.Same("friendship as Ben sees it", blocked.Contact.Friendship.Status, "blocked"); err != nil {
		return err
	}
	if err := s.expectContactEvent(s.ada, "contact.blocked", s.ben, "blocked"); err != nil {
		return err
	}
	late := s.ada.Seal(s.ben, "Hello?")
	if err := s.ada.Refused(ctx, "/messages", late, http.StatusForbidden, "contact_not_accepted"); err != nil {
		return err
	}
	s.stepf("Ben blocks Ada: her socket says contact.blocked, and her next message is refused.")

	for _, who := range []*agent.Agent{s.ada, s.ben} {
		var revoked struct {
			Revoked bool `json:"revoked"`
		}
		if err := who.Post(ctx, "/tokens/revoke", nil, http.StatusOK, &revoked); err != nil {
			return err
		}
		if err := agent.Same("revoked", revoked.Revoked, true); err != nil {
			return err
		}
		if err := who.Events.ClosedWith(closedForAuthentication); err != nil {
			return err
		}
	}
	s.stepf("Both revoke their tokens; their sockets close. The story ends.")
	return nil
}
