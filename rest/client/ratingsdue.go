package client

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// ratedAgents is how many agents RatingsDue asks for the ratings that they got.
const ratedAgents = 10

// RatingsDue returns the ids of those of the orders that are closed and that this agent has not rated. What the outbox holds is known;
// otherwise the newest 100 ratings of the other side are read, for the first 10 agents. It leaves out an order if neither shows it.
func (a *Agent) RatingsDue(ctx context.Context, orders []Order) (map[string]bool, error) {
	due := make(map[string]bool)
	bySide := make(map[string][]Order)
	var sides []string
	var known map[string]bool
	for _, order := range orders {
		if order.State != "closed" {
			continue
		}
		if known == nil {
			var err error
			if known, err = a.Outbox.rated(); err != nil {
				return nil, err
			}
		}
		if known[strings.ToLower(order.ID)] {
			continue
		}
		side := order.ContractorID
		if strings.EqualFold(side, a.identity.ID) {
			side = order.CustomerID
		}
		if bySide[side] == nil {
			sides = append(sides, side)
		}
		bySide[side] = append(bySide[side], order)
	}
	for _, side := range sides[:min(len(sides), ratedAgents)] {
		rated, until, err := a.ratedOf(ctx, side)
		if err != nil {
			return nil, err
		}
		for _, order := range bySide[side] {
			if !rated[order.ID] && (order.ClosedAt == nil || !order.ClosedAt.Before(until)) {
				due[order.ID] = true
			}
		}
	}
	return due, nil
}

// ratedOf returns the orders whose other side this agent has rated, as far as its newest ratings show. All ratings since until are
// known. An agent whose ratings are not shown counts as not rated.
func (a *Agent) ratedOf(ctx context.Context, botID string) (rated map[string]bool, until time.Time, err error) {
	newest, err := First(a.Ratings(ctx, botID, ""), listedRatings)
	if HasCode(err, "not_found") {
		return nil, until, nil
	}
	rated = make(map[string]bool)
	for _, rating := range newest {
		if strings.EqualFold(rating.Author.ID, a.identity.ID) {
			rated[rating.OrderID] = true
		}
	}
	if len(newest) == listedRatings {
		until = newest[listedRatings-1].CreatedAt
	}
	return rated, until, err
}

// listedRatings is how many ratings one answer lists.
const listedRatings = 100

// rated returns the ids of the orders for which the outbox holds a rating that was answered.
func (o *Outbox) rated() (map[string]bool, error) {
	names, err := filepath.Glob(filepath.Join(o.done(""), "*.json"))
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool)
	for _, name := range names {
		kept, err := read(name)
		if err != nil {
			continue // it was old, or is broken; the server knows, too
		}
		if rates, _ := path.Match("/orders/*/rating", kept.Path); rates { // the pattern is well-formed
			found[strings.ToLower(strings.Split(kept.Path, "/")[2])] = true
		}
	}
	return found, nil
}

// ReadUntil returns up to when the messages of each agent, by its id, were read: see MarkRead.
func (a *Agent) ReadUntil() (map[string]time.Time, error) {
	marks := make(map[string]time.Time)
	raw, err := os.ReadFile(a.file + ".read")
	if errors.Is(err, fs.ErrNotExist) {
		return marks, nil
	}
	if err != nil {
		return nil, err
	}
	return marks, json.Unmarshal(raw, &marks)
}

// MarkRead remembers, in the file named like the key file with .read behind it, that the messages of an agent were read up to a time.
func (a *Agent) MarkRead(botID string, until time.Time) error {
	marks, err := a.ReadUntil()
	if err != nil || !until.After(marks[botID]) {
		return err
	}
	marks[botID] = until
	raw, err := json.Marshal(marks)
	if err != nil {
		return err
	}
	return writeFile(a.file+".read", raw)
}
