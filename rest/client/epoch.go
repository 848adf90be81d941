package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"stoa/rest/client/keylog"
)

// rotate trusts a new key of the log if a head signed by the old key includes an entry of the new key (type 2).
func (l *KeyLog) rotate(ctx context.Context, v *logView, vkey string) error {
	next := logView{publishedLog: v.publishedLog}
	if err := next.believe(vkey); err != nil {
		return l.forked(v.kept.newest().Note, vkey, "the server names another key of its log: "+err.Error())
	}
	entry, err := keylog.KeyEntry(keylog.PurposeLog, keylog.Public(next.key))
	if err != nil {
		return err
	}
	index := int64(-1)
	err = l.patiently(ctx, func() error { // servers of earlier versions name the key first before its entry is in the tree
		head, err := l.checkpoint(ctx, v)
		if err == nil {
			index, err = l.last(ctx, v, entry, head.Size)
		}
		if err == nil && index < 0 {
			err = laterError{"no entry announces the new key of the log"}
		}
		return err
	})
	switch {
	case err != nil && !errors.Is(err, ErrUnproven):
		return err
	case index < 0:
		return l.forked(v.kept.newest().Note, vkey, "the server names another key of its log, which no entry announces")
	}
	newest, _, err := l.include(ctx, v, index, entry)
	if err != nil {
		return err
	}
	v.vkey, v.key = next.vkey, next.key
	return l.keep(v, newest, acceptedRotation)
}

// last finds the last index of an entry in a tree of that size, -1 if it is not there. It believes the tiles.
func (l *KeyLog) last(ctx context.Context, v *logView, wanted keylog.Entry, size int64) (int64, error) {
	for n := (size - 1) / keylog.TileWidth; n >= 0 && size > 0; n-- {
		entries, err := l.tile(ctx, v, n, size)
		if err != nil {
			return -1, err
		}
		for i, entry := range slices.Backward(entries) {
			if entry == wanted {
				return n*keylog.TileWidth + int64(i), nil
			}
		}
	}
	return -1, nil
}

// Epoch is a log that AcceptEpoch has accepted.
type Epoch struct {
	Origin string `json:"origin"`
	Former string `json:"former_origin"`
	Vkey   string `json:"vkey"`
	Size   int64  `json:"size"`
	Reason string `json:"reason"`
	// Kept counts the entries of the former log that were seen, Left how many of them the new log still has.
	Kept int64 `json:"kept"`
	Left int64 `json:"left"`
}

// AcceptEpoch accepts a log that the server has restarted; pins stay. The new log must begin with an entry that names the end of
// the former log, followed by the entries of the former log, and the former key must have signed it. If that key was lost, vkey
// is the new key, which the operator has published elsewhere. vkey also replaces a key rotated too long ago to be followed.
func (l *KeyLog) AcceptEpoch(ctx context.Context, vkey string) (made Epoch, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, err := l.published(ctx)
	if err != nil {
		return made, err
	}
	kept := v.kept
	same := v.Origin == kept.origin
	switch {
	case kept.origin == "":
		return made, errors.New("no key log was seen before: there is nothing to accept")
	case v.Origin == "":
		return made, l.forked(kept.newest().Note, v.said, "the server has no key log")
	case same && vkey == "":
		return made, fmt.Errorf("%s is the log that was seen before: there is nothing to accept", v.Origin)
	case !same:
		if refused := l.otherOrigin(v); !errors.Is(refused, ErrEpoch) {
			return made, refused
		}
	}
	if vkey == "" {
		former, err := keylog.ParseLogKey(kept.vkey)
		if err != nil {
			return made, err
		}
		vkey = keylog.LogKey(v.Origin, keylog.Public(former))
	}
	if err := v.believe(vkey); err != nil {
		return made, err
	}
	seen, how := kept.newest().Size, acceptedEpoch
	made = Epoch{Origin: v.Origin, Former: kept.origin, Vkey: vkey, Kept: seen, Left: seen}
	var head keylog.Witnessed
	if same {
		how = acceptedRotation
		head, err = l.advance(ctx, v)
	} else if head, err = l.checkpoint(ctx, v); err == nil {
		err = l.follow(ctx, v, head, &made)
	}
	if made.Size = head.Size; err != nil {
		return made, err
	}
	return made, l.keep(v, head, how)
}

// follow reads a new log whole. It checks that its first entry names the end of the former log and that the former entries
// follow, and counts the kept entries among them.
func (l *KeyLog) follow(ctx context.Context, v *logView, head keylog.Witnessed, made *Epoch) error {
	forked := func(why string) error { return l.forked(v.kept.newest().Note, head.Note, why) }
	if len(v.Epochs) == 0 {
		return forked("the server does not say how the former log ended")
	}
	ended := v.Epochs[len(v.Epochs)-1]
	former := ended.Checkpoint
	made.Reason, made.Left = ended.Reason, 0
	wanted := map[int64][]keylog.Checkpoint{former.Size: {former}}
	if ended.Origin == v.kept.origin { // otherwise the epochs between are not at hand to compare with
		made.Left = min(made.Kept, former.Size)
		for _, open := range v.kept.open {
			if open.Size <= former.Size {
				wanted[open.Size] = append(wanted[open.Size], open.Checkpoint)
			}
		}
	}
	var whole, before keylog.Edge
	err := l.scan(ctx, v, 0, head.Size, func(index int64, entry keylog.Entry) error {
		raw := entry.Bytes()
		whole.Append(raw, nil)
		if index == 0 {
			if entry != keylog.EpochEntry(former.Origin, former.Root) {
				return forked("the new log does not begin with the end of the former one")
			}
			return nil
		}
		before.Append(raw, nil)
		for _, head := range wanted[before.Size] {
			if before.Root() != head.Root {
				return forked(fmt.Sprintf("the new log does not have the former one's %d entries", head.Size))
			}
		}
		return nil
	})
	if err == nil && (whole.Root() != head.Root || whole.Size <= former.Size) {
		err = forked("the entries of the new log do not make the head that the server has signed")
	}
	return err
}
