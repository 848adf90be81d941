package keylog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stoa/graph/platform/db"
)

// Published describes the log in /.well-known/stoa-keys.json (§12.2).
type Published struct {
	Origin    string   `json:"origin"`
	URL       string   `json:"url"`
	Vkeys     []string `json:"vkeys"`
	Witnesses []string `json:"witnesses"`
	Epochs    []Ended  `json:"epochs"`
}

// Ended is an epoch that has ended: what was left of it then, and why it ended.
type Ended struct {
	Origin  string    `json:"origin" db:"origin"`
	Size    int64     `json:"size" db:"size"`
	Root    []byte    `json:"root" db:"root"`
	EndedAt time.Time `json:"ended_at" db:"ended_at"`
	Reason  string    `json:"reason" db:"reason"`
	Epoch   int       `json:"-" db:"epoch"`
}

// Published returns what anyone may know of the log: its name, address and keys, the present one first, and the epochs that
// have ended. It is nil before the log has begun. Faults: rate_limited.
func (a *API) Published(ctx context.Context) (*Published, error) {
	var p *Published
	err := a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) (err error) {
		p, err = a.published(ctx, on)
		return err
	})
	return p, err
}

func (a *API) published(ctx context.Context, q db.Querier) (*Published, error) {
	head, err := present(ctx, q)
	if errors.Is(err, errNotBegun) {
		return nil, nil //nolint:nilnil // the caller publishes null
	}
	if err != nil {
		return nil, err
	}
	signers, err := a.signers(ctx, q, head.Origin)
	if err != nil {
		return nil, err
	}
	ended, err := db.All[Ended](ctx, q, endedHeads)
	if err != nil {
		return nil, err
	}
	p := &Published{
		Origin: head.Origin, URL: fmt.Sprintf("%s/log/%d", a.Origin, head.Epoch), Vkeys: vkeys(signers),
		Witnesses: []string{}, Epochs: []Ended{},
	}
	if a.Witnesses != nil {
		p.Witnesses = append(p.Witnesses, a.Witnesses.Keys()...)
	}
	for _, e := range ended {
		e.EndedAt = e.EndedAt.UTC()
		p.Epochs = append(p.Epochs, *e)
	}
	return p, nil
}
