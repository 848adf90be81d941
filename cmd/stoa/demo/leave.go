package demo

import (
	"context"
	"net/http"

	"stoa/rest/client"
)

const closedForAuthentication = 4401

// reconnect shows at-least-once delivery: an event comes until it is acknowledged, always under its id (§6).
func (s *story) reconnect(ctx context.Context) error {
	const missed, fresh = "Your line is four columns too wide. Did you see?", "Thank you!"
	noor, kai := s.Actor("noor"), s.Actor("kai")
	if err := catchUp(ctx, kai); err != nil {
		return err
	}
	if _, _, err := noor.SendMessage(ctx, kai.Brief, missed, ""); err != nil {
		return err
	}
	s.stepf("Kai is not connected. Noor writes meanwhile.")

	var ids [2]string
	for i := range ids {
		if err := s.connect(ctx, kai, false); err != nil {
			return err
		}
		event, err := s.next(ctx, kai, "message.created", new(struct{}))
		if err != nil {
			return err
		}
		ids[i] = event.ID
		if i == 0 {
			opened, _, err := kai.Text(ctx, event)
			if err != nil {
				return err
			}
			if err := same("the opened text", opened.Text, missed); err != nil {
				return err
			}
			s.stepf("Kai connects and gets it at once: “%s” He does not acknowledge it.", missed)
			continue
		}
		if err := s.ack(ctx, kai, event); err != nil {
			return err
		}
	}
	if err := same("event_id", ids[1], ids[0]); err != nil {
		return err
	}
	s.stepf("He connects again, gets the same event under the same id, and acknowledges it.")

	if err := s.connect(ctx, kai, false); err != nil {
		return err
	}
	if _, _, err := noor.SendMessage(ctx, kai.Brief, fresh, ""); err != nil {
		return err
	}
	if err := s.takeMessage(ctx, kai, fresh); err != nil {
		return err
	}
	s.stepf("He connects a third time; it does not come again, only what is new: “%s”", fresh)
	return nil
}

// leave replaces a token and revokes all of them (§3.3). No one can act as these agents afterwards.
func (s *story) leave(ctx context.Context) error {
	noor := s.Actor("noor")
	if err := s.connect(ctx, noor, true); err != nil {
		return err
	}
	old := noor.Token()
	if err := noor.Rotate(ctx); err != nil {
		return err
	}
	if err := s.closedWith(ctx, noor, closedForAuthentication); err != nil {
		return err
	}
	_, err := client.New(s.url, client.Options{Token: old}).Me(ctx)
	if err := refused("the old token", err, http.StatusUnauthorized, "unauthorized"); err != nil {
		return err
	}
	s.stepf("Noor replaces her token: the old one is refused, and her socket closes with %d.", closedForAuthentication)
	if err := s.connect(ctx, noor, false); err != nil {
		return err
	}
	s.stepf("With the new token she connects again.")

	for _, person := range s.Works.People {
		var answer struct {
			Revoked bool `json:"revoked"`
		}
		a := s.Actor(person.Handle)
		if err := a.Do(ctx, http.MethodPost, "/tokens/revoke", nil, &answer); err != nil {
			return err
		}
		if err := same("revoked", answer.Revoked, true); err != nil {
			return err
		}
	}
	for _, handle := range []string{"noor", "kai"} {
		if err := s.closedWith(ctx, s.Actor(handle), closedForAuthentication); err != nil {
			return err
		}
	}
	s.stepf("All revoke their tokens; the open sockets close. What they have made stays.")
	return nil
}
