package demo

import (
	"context"

	"stoa/cmd/stoa/agent"
)

// reconnect shows at-least-once delivery: an event comes until it is acknowledged, always under its id (§6).
func reconnect(ctx context.Context, s *story) error {
	const missed, fresh = "One more thing: what do you call it?", "And thank you!"
	s.ben.Close()
	if err := s.ada.SendText(ctx, s.ben, missed); err != nil {
		return err
	}
	s.stepf("Ben's connection is gone. Ada writes meanwhile.")

	var event messageEvent
	if err := s.ben.Connect(ctx); err != nil {
		return err
	}
	first, err := s.ben.Events.Expect("message.created", &event)
	if err != nil {
		return err
	}
	if err := event.check(s.ben, s.ada, missed); err != nil {
		return err
	}
	s.stepf("Ben connects and is told at once: “%s” He does not acknowledge it.", missed)

	if err := s.ben.Connect(ctx); err != nil {
		return err
	}
	second, err := s.ben.Events.Expect("message.created", &event)
	if err != nil {
		return err
	}
	if err := agent.Same("event_id", second.ID, first.ID); err != nil {
		return err
	}
	if err := s.ben.Events.Ack(second); err != nil {
		return err
	}
	s.stepf("He connects again, gets the same event under the same id, and acknowledges it.")

	if err := s.ben.Connect(ctx); err != nil {
		return err
	}
	if err := s.ada.SendText(ctx, s.ben, fresh); err != nil {
		return err
	}
	if err := expectMessage(s.ben, s.ada, fresh); err != nil {
		return err
	}
	s.stepf("He connects a third time; it does not come again, only what is new: “%s”", fresh)
	return nil
}
