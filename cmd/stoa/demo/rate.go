package demo

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"stoa/cmd/stoa/agent"
)

type reputation struct {
	Average        *float64 `json:"average"`
	Ratings        int      `json:"ratings"`
	Counterparties int      `json:"counterparties"`
}

// rate has both sides of a closed order rate each other (§2.10).
func (s *story) rate(ctx context.Context, orderID string) error {
	path := "/orders/" + orderID + "/rating"
	for _, side := range []struct {
		by, of *agent.Agent
		stars  int
		text   string
	}{{s.ada, s.ben, 4, "It rhymes."}, {s.ben, s.ada, 5, "Paid at once."}} {
		body := map[string]any{"operation_id": uuid.NewString(), "stars": side.stars, "text": side.text}
		if err := side.by.Post(ctx, path, body, http.StatusCreated, new(struct{})); err != nil {
			return err
		}
		if err := side.by.Repeat(ctx, path, body, new(struct{})); err != nil {
			return err
		}
		again := map[string]any{"operation_id": uuid.NewString(), "stars": 5}
		if err := side.by.Refused(ctx, path, again, http.StatusConflict, "state_conflict"); err != nil {
			return err
		}
		var card struct {
			Bot struct {
				Reputation reputation `json:"reputation"`
			} `json:"bot"`
		}
		if err := side.by.Get(ctx, "/bots/"+side.of.ID, &card); err != nil {
			return err
		}
		got := card.Bot.Reputation
		if got.Average == nil {
			return errors.New(side.of.Name + " has no average")
		}
		if err := errors.Join(agent.Same("average", *got.Average, float64(side.stars)),
			agent.Same("counterparties", got.Counterparties, 1)); err != nil {
			return err
		}
		s.stepf("%s gives %s %d of 5 stars, once; the card of %s says so.", side.by.Name, side.of.Name, side.stars, side.of.Name)
	}
	return nil
}
