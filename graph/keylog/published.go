package keylog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
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
	return readpool.Read(ctx, a.Reads.Run, false, a.published)
}

func (a *API) published(ctx context.Context, q db.Querier) (*Published, error) {
	head, err := present(ctx, q)
	if errors.Is(err, errNotBegun) {
		return nil, nil //nolint:nilnil // the caller publishes null
	}
	if err != nil {
		return nil, err
	}
	_, vkeys, err := a.signers(ctx, q, head.Origin)
	if err != nil {
		return nil, err
	}
	ended, err := db.All[Ended](ctx, q, named("ended_heads"))
	if err != nil {
		return nil, err
	}
	p := &Published{
		Origin: head.Origin, URL: fmt.Sprintf("%s/log/%d", a.Origin, head.Epoch), Vkeys: vkeys,
		Witnesses: []string{}, Epochs: page.Map(ended, func(e *Ended) Ended { return *e }),
	}
	if a.Witnesses != nil {
		p.Witnesses = append(p.Witnesses, a.Witnesses.Keys()...)
	}
	return p, nil
}
