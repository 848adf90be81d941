// Package keylog keeps the key log (§12.2): a Merkle tree (RFC 6962) of the keys of agents, the keys of the server and the
// receipts, in the formats of C2SP: signed-note, tlog-checkpoint, tlog-tiles and tlog-proof.
//
// A future entry is a row of log_queue, inserted in the transaction of its cause. A trigger inserts the rows of agents, so no
// version of the server registers an agent without one. A job appends (sequence.go): one transaction at a time, which locks the
// present row of log_head, moves rows of the queue to log_leaves and changes the head. So a head that is committed has all its
// leaves, and nothing uncommitted is ever signed. Any number of processes may run the job; a process that finds the head locked
// does nothing. Entries of an interrupted transaction are appended later.
//
// Heads are signed on request (checkpoint.go), with keys that are derived from the installation's key (sign.go). Ed25519 is
// deterministic, so every process makes the same signature. A process signs a head only if it continues the greatest signed head,
// which is kept in memory and in a file that is in no backup (headstore.go), and every signed head that a witness shows
// (witnesses.go). So after a restore or a failover that lost entries nothing is signed or appended until an operator begins a new
// epoch (sequence.go).
package keylog

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"sync"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
)

//go:embed keylog.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
	// Reads runs anonymous reads.
	Reads *readpool.Pool
	// Key is the installation's secret.
	Key []byte
	// Origin is the URL of the public listener, such as https://stoa.example. A log keeps the host with which it began.
	Origin string
	// Signed keeps the greatest head that was signed.
	Signed *HeadStore
	// Witnesses sign the log; nil for none.
	Witnesses Witnesses

	cosigning sync.Mutex
	pauses    map[string]pause // of witnesses by their vkeys
}

// Head is the head of an epoch of the log.
type Head struct {
	Epoch  int    `db:"epoch"`
	Origin string `db:"origin"`
	Size   int64  `db:"size"`
	Root   []byte `db:"root"`
}

var errNotBegun = errors.New("the key log has not begun")

// present reads the head of the present epoch. It returns service_unavailable before the log has begun.
func present(ctx context.Context, q db.Querier) (Head, error) {
	head, err := db.One[Head](ctx, q, named("present_head"))
	if errors.Is(err, sql.ErrNoRows) {
		return Head{}, fault.Wrap(fault.ServiceUnavailable, errNotBegun)
	}
	if err != nil {
		return Head{}, err
	}
	return *head, nil
}

// Metrics returns figures about the log, and whether this process refuses to sign its head.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	behind, forked := metrics.Value{Name: "stoa_log_behind"}, metrics.Value{Name: "stoa_log_forked"}
	size, waiting := metrics.Value{Name: "stoa_log_entries"}, metrics.Value{Name: "stoa_log_waiting"}
	counted, err := db.Column[int64](ctx, a.DB.SQL, named("count_waiting"))
	if err != nil {
		return nil, err
	}
	waiting.Value = float64(counted[0])
	err = atHead(ctx, a.DB.SQL, func(head Head) error {
		size.Value = float64(head.Size)
		return a.continues(ctx, a.DB.SQL, head)
	})
	switch {
	case errors.Is(err, ErrForked):
		behind.Value, forked.Value = 1, 1
	case errors.Is(err, ErrBehind):
		behind.Value = 1
	case err != nil && !errors.Is(err, errNotBegun):
		return nil, err
	}
	return []metrics.Value{behind, forked, size, waiting}, nil
}

// Published describes the log in /.well-known/stoa-keys.json (§12.2).
type Published struct {
	Origin    string   `json:"origin"`
	URL       string   `json:"url"`
	Vkeys     []string `json:"vkeys"`
	Witnesses []string `json:"witnesses"`
	Epochs    []Ended  `json:"epochs"`
}

// Ended is an epoch that has ended: its last head, and why it ended.
type Ended struct {
	Origin  string    `json:"origin" db:"origin"`
	Size    int64     `json:"size" db:"size"`
	Root    []byte    `json:"root" db:"root"`
	EndedAt time.Time `json:"ended_at" db:"ended_at"`
	Reason  string    `json:"reason" db:"reason"`
	Epoch   int       `json:"-" db:"epoch"`
}

// Published returns the public data of the log: its name, address and keys, the newest with an entry first, and the epochs that
// have ended. It returns nil before the log has begun. Faults: rate_limited.
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
	vkeys, err := a.vkeys(ctx, q, head.Origin)
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
