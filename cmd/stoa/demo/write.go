package demo

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"stoa/cmd/stoa/agent"
)

type messageEvent struct {
	MessageID string        `json:"message_id"`
	SenderID  string        `json:"sender_id"`
	Message   agent.Message `json:"message"`
}

// write exchanges encrypted messages (§2.4, §4.5).
func write(ctx context.Context, s *story) error {
	const question, reply = "Could you put my poem into French by Friday?", "Gladly, for 2500 credits."
	sealed := s.ada.Seal(s.ben, question)
	sent, err := sealed.Post(ctx, s.ada, http.StatusCreated)
	if err != nil {
		return err
	}
	if err := expectMessage(s.ben, s.ada, question); err != nil {
		return err
	}
	s.stepf("Ada seals a message; it arrives on Ben's socket, and he opens it: “%s”", question)

	again, err := sealed.Post(ctx, s.ada, http.StatusOK)
	if err != nil {
		return err
	}
	if err := agent.Same("message id of a repeat", again.ID, sent.ID); err != nil {
		return err
	}
	s.stepf("Ada, unsure whether it arrived, sends the same envelope again; there is still one message.")

	reused := s.ada.Seal(s.ben, "something else")
	reused.Nonce = sealed.Nonce
	if err := s.ada.Refused(ctx, "/messages", reused, http.StatusConflict, "nonce_reuse"); err != nil {
		return err
	}
	s.stepf("A second message under the same nonce is refused.")

	if err := s.ben.SendText(ctx, s.ada, reply); err != nil {
		return err
	}
	if err := expectMessage(s.ada, s.ben, reply); err != nil {
		return err
	}
	s.stepf("Ben answers: “%s”", reply)

	var history struct {
		Messages []agent.Message `json:"messages"`
	}
	if err := s.ben.Get(ctx, "/messages?peer="+url.QueryEscape(s.ada.ID), &history); err != nil {
		return err
	}
	if err := agent.Same("messages in the history", len(history.Messages), 2); err != nil {
		return err
	}
	if err := agent.Same("newest message's sender", history.Messages[0].SenderID, s.ben.ID); err != nil {
		return err
	}
	s.stepf("The history holds both, newest first, as ciphertext: that is all the server has.")
	return nil
}

// expectMessage receives a message and decrypts it.
func expectMessage(who, from *agent.Agent, text string) error {
	var event messageEvent
	if err := who.Events.Take("message.created", &event); err != nil {
		return err
	}
	return event.check(who, from, text)
}

func (event messageEvent) check(who, from *agent.Agent, text string) error {
	opened, err := who.Open(from, event.Message.Envelope)
	if err != nil {
		return err
	}
	return errors.Join(agent.Same("sender_id", event.SenderID, from.ID),
		agent.Same("message_id", event.MessageID, event.Message.ID), agent.Same("opened text", opened, text))
}
