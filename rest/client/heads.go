package client

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"stoa/rest/client/keylog"
)

// Head is a head of the server's key log (§12.2) that was checked.
type Head struct {
	Origin string `json:"origin"`
	// Vkey is the key of the log under which the head was checked.
	Vkey string `json:"vkey"`
	Size int64  `json:"size"`
	Root []byte `json:"root"`
	// Checkpoint is the signed note, which proves what the log has said.
	Checkpoint string `json:"checkpoint"`
	// Over is how many of the heads before it in the file it was shown to continue.
	Over int `json:"over"`
	// Accepted is set if the log has a new key since this head, or begins anew with it.
	Accepted string `json:"accepted,omitempty"`
}

// Values of Head.Accepted.
const (
	acceptedRotation = "rotation"
	acceptedEpoch    = "epoch"
)

func headOf(w keylog.Witnessed, vkey string) Head {
	return Head{Origin: w.Origin, Vkey: vkey, Size: w.Size, Root: w.Root[:], Checkpoint: string(w.Note)}
}

// witnessed is the head as package keylog knows it.
func (h Head) witnessed() keylog.Witnessed {
	w := keylog.Witnessed{Checkpoint: keylog.Checkpoint{Origin: h.Origin, Size: h.Size}, Note: []byte(h.Checkpoint)}
	if len(h.Root) == tlog.HashSize {
		w.Root = tlog.Hash(h.Root)
	}
	return w
}

// keptLog is the log as the trust file has it.
type keptLog struct {
	// origin is empty if no head was ever kept.
	origin, vkey string
	// rotated reports whether the key is not the first one that was kept.
	rotated bool
	// open are the heads that the next one must be shown to continue: the newest, and those that programs have kept at the same time.
	open  []Head
	count int
}

// newest is the greatest of the open heads.
func (k keptLog) newest() Head {
	return slices.MaxFunc(k.open, func(a, b Head) int { return int(a.Size - b.Size) })
}

// Log returns the newest head of the key log that is kept, false if no head was kept yet.
func (t *Trust) Log() (Head, bool, error) {
	kept, err := t.log()
	if err != nil || kept.origin == "" {
		return Head{}, false, err
	}
	newest := kept.newest()
	newest.Vkey = kept.vkey
	return newest, true, nil
}

func (t *Trust) log() (keptLog, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(); err != nil || len(t.heads) == 0 {
		return keptLog{}, err
	}
	last := t.heads[len(t.heads)-1]
	over := min(max(last.Over, 0), len(t.heads)-1)
	return keptLog{
		origin: t.heads[0].Origin, vkey: t.vkey, open: slices.Clone(t.heads[over:]), count: len(t.heads),
		rotated: t.vkey != t.heads[0].Vkey,
	}, nil
}

// LogKey returns the vkey of the server's log that counts, empty if no head was ever kept.
func (t *Trust) LogKey() (string, error) {
	kept, err := t.log()
	return kept.vkey, err
}

// keep appends a head that continues all that were kept when kept was read, unless nothing has changed.
func (t *Trust) keep(head Head, kept keptLog) error {
	if head.Accepted == "" && len(kept.open) == 1 && kept.open[0].witnessed().Checkpoint == head.witnessed().Checkpoint {
		return nil
	}
	head.Over = kept.count
	if head.Accepted == acceptedEpoch {
		head.Over = 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.append(struct {
		Log Head      `json:"log"`
		At  time.Time `json:"at"`
	}{head, time.Now().UTC().Truncate(time.Second)}); err != nil {
		return err
	}
	if !slices.ContainsFunc(t.heads, func(h Head) bool { return h.Checkpoint == head.Checkpoint && h.Origin == head.Origin }) {
		return errors.Join(t.notKept(), errors.New("another program has kept the head of another log"))
	}
	return nil
}

// foldHead applies a head to what the lines before it say. A line of another log counts only if a person has accepted it.
func (t *Trust) foldHead(line Head) {
	switch {
	case len(line.Root) != tlog.HashSize:
	case len(t.heads) == 0 || line.Accepted == acceptedEpoch:
		t.heads, t.vkey = []Head{line}, line.Vkey
	case line.Origin == t.heads[0].Origin:
		if line.Accepted == acceptedRotation {
			t.vkey = line.Vkey
		}
		t.heads = append(t.heads, line)
	}
}
