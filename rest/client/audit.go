package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"time"

	"stoa/rest/client/keylog"
)

// Audited holds the findings of an audit of a log.
type Audited struct {
	Origin string `json:"origin"`
	Vkey   string `json:"vkey"`
	// Size is the number of its entries, Read how many of them were read now, Agents how many of all are of agents.
	Size   int64 `json:"size"`
	Read   int64 `json:"read"`
	Agents int   `json:"agents"`
	// Witnesses has when each of the known witnesses signed the head. Claimed are the vkeys of those that the server names.
	Witnesses map[string]time.Time `json:"witnesses"`
	Claimed   []string             `json:"claimed_witnesses"`
	// Index is that of the agent's own entry, nil in an audit without an agent.
	Index *int64 `json:"index,omitempty"`

	seen *seenLog
	view *logView
}

// Audit reads the entries that are new since the last audit, and checks that they are those of the head that the server has signed, with
// a quorum if one is demanded, that the newest head continues it and all that were kept, and that no two entries are of one handle
// (ErrLabelTwice). It returns ErrNoLog if the server
// has no log.
func (l *KeyLog) Audit(ctx context.Context) (made Audited, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.patiently(ctx, func() error {
		made, err = l.audit(ctx)
		return err
	})
	return made, err
}

// ErrNoLog says that a server has no key log.
var ErrNoLog = errors.New("the server has no key log")

func (l *KeyLog) audit(ctx context.Context) (Audited, error) {
	v, err := l.view(ctx)
	if err != nil {
		return Audited{}, err
	}
	if v == nil {
		return Audited{}, ErrNoLog
	}
	head, err := l.advance(ctx, v)
	if err != nil {
		return Audited{}, err
	}
	seen, err := openSeenLog(l.folder, path.Base(v.path), v.Origin)
	if err != nil {
		return Audited{}, err
	}
	if seen.size > head.Size {
		return Audited{}, l.forked(headOf(keylog.Witnessed{Checkpoint: seen.head(v.Origin)}, v.vkey), head.Note,
			fmt.Sprintf("%d entries were read, and the log now says %d", seen.size, head.Size))
	}
	newest := head
	if len(head.By) < l.checks.Quorum {
		if head, err = l.cosigned(ctx, v, max(seen.size, 1)-1); err != nil {
			return Audited{}, err
		}
		if newest, err = l.advance(ctx, v, newest, head); err != nil {
			return Audited{}, err
		}
	}
	made := Audited{
		Origin: v.Origin, Vkey: v.vkey, Size: head.Size, Read: head.Size - seen.size, Witnesses: head.By, Claimed: v.Witnesses,
		seen: seen, view: v,
	}
	if err := l.scan(ctx, v, seen.size, head.Size, seen.add); err != nil {
		return made, err
	}
	made.Agents = len(seen.labels)
	if seen.head(v.Origin) != head.Checkpoint {
		return made, l.forked(headOf(head, v.vkey), head.Note, "the entries that the server shows are not those of the head that it has signed")
	}
	return made, errors.Join(seen.save(), l.keep(headOf(newest, v.vkey), v))
}

// cosigned reads a head that a quorum has signed and that has the entry of an index. The newest has no lines of witnesses for a moment; the
// entries after the one that has them are read later.
func (l *KeyLog) cosigned(ctx context.Context, v *logView, index int64) (head keylog.Witnessed, err error) {
	body, found, err := l.read(ctx, v, "proof/"+strconv.FormatInt(index, 10))
	if err != nil {
		return head, err
	}
	if !found {
		return head, laterError{fmt.Sprintf("the key log has no entry %d", index)}
	}
	proof, err := keylog.ParseProof(body)
	if err != nil {
		return head, unproven("%s", err)
	}
	if head, err = l.open(v, proof.Checkpoint); err == nil && (len(head.By) < l.checks.Quorum || head.Size <= index) {
		err = l.belowQuorum(len(head.By))
	}
	return head, err
}

// WatchKey is KeyLog.Audit, and checks that the log has exactly one entry of this agent's handle, and that it has the agent's own id and
// key. Otherwise it returns ErrOwnKey, ErrUnproven if the log has no such entry, or what Audit returns.
func (a *Agent) WatchKey(ctx context.Context) (made Audited, err error) {
	l := a.Log
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.patiently(ctx, func() error {
		if made, err = l.audit(ctx); err != nil {
			return err
		}
		return a.ownEntry(ctx, &made)
	})
	if errors.Is(err, ErrUnproven) && made.seen != nil {
		if index, found := made.seen.labels[keylog.AgentLabel(made.view.host, a.identity.Handle)]; found {
			err = ownKey("entry %d is of this agent's handle, and the server does not say that it is this agent's", index)
		}
	}
	return made, err
}

func ownKey(format string, args ...any) error {
	return refuse(ErrOwnKey, http.StatusConflict, "log_own_key", "%s. Tell those who write to you your fingerprint over another channel",
		fmt.Sprintf(format, args...))
}

// ownEntry compares the entry of the agent's handle with what the agent is.
func (a *Agent) ownEntry(ctx context.Context, made *Audited) error {
	card, err := one[logged](ctx, a.Client, http.MethodGet, "/bots/me", "bot", nil)
	if err != nil {
		return err
	}
	card.ID, card.Handle = a.identity.ID, a.identity.Handle
	index, found := made.seen.labels[keylog.AgentLabel(made.view.host, card.Handle)]
	switch {
	case !card.sequenced(), !found && *card.KeyLog.Index >= made.Size:
		return laterError{"this agent's key is not in the key log yet"}
	case !found:
		return ownKey("entry %d, which the server names, is not of this agent's handle", *card.KeyLog.Index)
	case index != *card.KeyLog.Index:
		return ownKey("entry %d is of this agent's handle, and the server says that entry %d is", index, *card.KeyLog.Index)
	}
	_, _, found, err = a.Log.include(ctx, made.view, index, card.agent(a.Keys.Public()).Entry(made.view.host, card.KeyLog.Salt))
	switch {
	case errors.Is(err, ErrUnproven) || err == nil && !found:
		return ownKey("entry %d, of this agent's handle, does not open to this agent's id and key", index)
	case err != nil:
		return err
	}
	made.Index = &index
	return nil
}
