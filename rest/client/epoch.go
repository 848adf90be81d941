package client

import (
	"context"
	"errors"
	"fmt"

	"stoa/rest/client/keylog"
)

// rotate believes a new key of the log, if a head that the old key has signed has the new one in its tree (an entry of type 2).
func (l *KeyLog) rotate(ctx context.Context, v *logView, vkey string) error {
	key, err := keylog.ParseLogKey(vkey)
	if err == nil && key.Name() != v.Origin {
		err = fmt.Errorf("it is of %s", key.Name())
	}
	if err != nil {
		return l.forked(v.kept.newest(), []byte(vkey), "the server names another key of its log: "+err.Error())
	}
	entry, err := keylog.KeyEntry(keylog.PurposeLog, keylog.Public(key))
	if err != nil {
		return err
	}
	index := int64(-1)
	err = l.patiently(ctx, func() error { // the key is published before its entry is in the tree
		head, err := l.checkpoint(ctx, v)
		if err == nil {
			index, err = l.last(ctx, v, entry, head.Size)
		}
		if err == nil && index < 0 {
			err = laterError{"no entry announces the new key of the log"}
		}
		return err
	})
	if err != nil && !errors.Is(err, ErrUnproven) {
		return err
	}
	if index < 0 {
		return l.forked(v.kept.newest(), []byte(vkey), "the server names another key of its log, which no entry announces")
	}
	newest, _, found, err := l.include(ctx, v, index, entry)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("the key log does not show its entry %d", index)
	}
	if err := l.accept(newest, v, vkey, acceptedRotation); err != nil {
		return err
	}
	return v.believe(vkey)
}

// accept keeps a head with which another key counts.
func (l *KeyLog) accept(head keylog.Witnessed, v *logView, vkey, how string) error {
	kept := headOf(head, vkey)
	kept.Accepted = how
	return l.keep(kept, v)
}

// Epoch is a log that AcceptEpoch has accepted.
type Epoch struct {
	Origin string `json:"origin"`
	Former string `json:"former_origin"`
	Vkey   string `json:"vkey"`
	Size   int64  `json:"size"`
	Reason string `json:"reason"`
	// Kept is how many entries of the former log were seen, Left how many of them the new one still has.
	Kept int64 `json:"kept"`
	Left int64 `json:"left"`
}

// AcceptEpoch has a log that was begun anew followed from now on; pins stay. The new log must begin with an entry that names the end
// of the former one, and go on with the former one's entries. It is signed by the former key. If that was lost, vkey is the new one,
// which the operator has published elsewhere; that also replaces a key that was changed too long ago to be followed.
func (l *KeyLog) AcceptEpoch(ctx context.Context, vkey string) (Epoch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept, err := l.trust.log()
	if err != nil {
		return Epoch{}, err
	}
	if kept.origin == "" {
		return Epoch{}, errors.New("no key log was seen before: there is nothing to accept")
	}
	found, said, err := l.published(ctx)
	if err != nil {
		return Epoch{}, err
	}
	if found == nil {
		return Epoch{}, l.forked(kept.newest(), said, "the server has no key log")
	}
	v := &logView{publishedLog: *found, kept: kept}
	if v.Origin == kept.origin && vkey == "" {
		return Epoch{}, fmt.Errorf("%s is the log that was seen before: there is nothing to accept", v.Origin)
	}
	if v.Origin != kept.origin {
		if refused := l.otherOrigin(v, said); !errors.Is(refused, ErrEpoch) {
			return Epoch{}, refused
		}
	}
	if err := v.address(); err != nil {
		return Epoch{}, err
	}
	if vkey == "" {
		former, err := keylog.ParseLogKey(kept.vkey)
		if err != nil {
			return Epoch{}, err
		}
		vkey = keylog.LogKey(v.Origin, keylog.Public(former))
	}
	if err := v.believe(vkey); err != nil {
		return Epoch{}, err
	}
	made := Epoch{Origin: v.Origin, Former: kept.origin, Vkey: vkey, Kept: kept.newest().Size, Left: kept.newest().Size}
	if v.Origin == kept.origin {
		head, err := l.advance(ctx, v)
		if err != nil {
			return made, err
		}
		made.Size = head.Size
		return made, l.accept(head, v, vkey, acceptedRotation)
	}
	head, err := l.checkpoint(ctx, v)
	if err != nil {
		return made, err
	}
	made.Size = head.Size
	if err := l.follow(ctx, v, head, &made); err != nil {
		return made, err
	}
	return made, l.accept(head, v, vkey, acceptedEpoch)
}

// follow reads a new log whole: whether its first entry names the end of the log before it, whose entries follow, and how many of the
// kept entries are among them.
func (l *KeyLog) follow(ctx context.Context, v *logView, head keylog.Witnessed, made *Epoch) error {
	if len(v.Epochs) == 0 {
		return l.forked(v.kept.newest(), head.Note, "the server does not say how the former log ended")
	}
	ended := v.Epochs[len(v.Epochs)-1]
	former := Head{Origin: ended.Origin, Size: ended.Size, Root: ended.Root}.witnessed().Checkpoint
	made.Reason = ended.Reason
	wanted := map[int64][]keylog.Checkpoint{former.Size: {former}}
	if ended.Origin == v.kept.origin {
		for _, open := range v.kept.open {
			if open.Size <= former.Size {
				wanted[open.Size] = append(wanted[open.Size], open.witnessed().Checkpoint)
			}
		}
		made.Left = min(made.Kept, former.Size)
	} else {
		made.Left = 0 // the epochs between are not at hand to compare with
	}
	var whole, before tree
	err := l.scan(ctx, v, 0, head.Size, func(index int64, entry keylog.Entry) error {
		whole.append(entry)
		if index == 0 {
			if entry != keylog.EpochEntry(former.Origin, former.Root) {
				return l.forked(v.kept.newest(), head.Note, "the new log does not begin with the end of the former one")
			}
			return nil
		}
		before.append(entry)
		for _, root := range wanted[before.size] {
			if before.head(root.Origin) != root {
				return l.forked(v.kept.newest(), head.Note, fmt.Sprintf("the new log does not have the former one's %d entries", root.Size))
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case whole.head(v.Origin) != head.Checkpoint || whole.size <= former.Size:
		return l.forked(v.kept.newest(), head.Note, "the entries of the new log are not those of the head that the server has signed")
	}
	return nil
}
