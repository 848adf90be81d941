package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"stoa/rest/client/keylog"
)

// Meet compares an agent with its pin, and pins it if it has none (§12.3). A new agent's key must be in the server's key log. If
// the server never had a log, the key is trusted on first use (ViaFirstUse). If the agent must not be trusted, it returns
// ErrKeyChanged, ErrUnproven, ErrLogForked or ErrEpoch. It makes no request for a pinned agent.
func (a *Agent) Meet(ctx context.Context, agent Brief) error {
	switch known, err := a.Trust.knows(agent); {
	case err != nil || known == pinned:
		return err
	case known == withoutHandle: // the pinned key vouches for it
		return a.Trust.Check(agent)
	}
	a.Log.mu.Lock()
	defer a.Log.mu.Unlock()
	if known, err := a.Trust.knows(agent); err != nil || known != unknown { // it was met meanwhile
		return err
	}
	met, err := a.Log.prove(ctx, agent, at("/bots/", agent.ID, ""))
	if errors.Is(err, ErrUnproven) && a.Log.checks.AllowUnproven {
		return a.Trust.Check(agent)
	}
	if err != nil {
		return err
	}
	return a.Trust.pin(met.Brief, met.via(), met.index)
}

// provenAgent is an agent. The log proves its key if index is not nil.
type provenAgent struct {
	Brief

	index *int64
	// witnesses counts the known witnesses that have signed a head which has the entry.
	witnesses int
}

func (p provenAgent) via() string {
	if p.index == nil {
		return ViaFirstUse
	}
	return ViaLog
}

// logged has the members of a card to which a log entry commits, as the server writes them.
type logged struct {
	ID        string  `json:"id"`
	Handle    string  `json:"handle"`
	Key       *string `json:"encryption_public_key"`
	CreatedAt string  `json:"created_at"`
	KeyLog    *struct {
		Index *int64 `json:"index"`
		Salt  []byte `json:"salt"`
	} `json:"key_log"`
}

// sequenced reports whether the server has put the entry into the log.
func (c logged) sequenced() bool { return c.KeyLog != nil && c.KeyLog.Index != nil }

func (c logged) agent(key string) keylog.Agent {
	return keylog.Agent{ID: c.ID, Handle: c.Handle, Key: key, CreatedAt: c.CreatedAt}
}

// laterError means that something is not proven yet, and why.
type laterError struct{ why string }

func (e laterError) Error() string { return e.why }

// patiently repeats a function while it returns laterError. When the patience ends, it returns ErrUnproven.
func (l *KeyLog) patiently(ctx context.Context, try func() error) error {
	for end := time.Now().Add(l.checks.Patience); ; {
		err := try()
		later, missing := errors.AsType[laterError](err)
		if !missing {
			return err
		}
		if time.Now().After(end) {
			return unproven("%s", later.why)
		}
		if err := sleep(ctx, min(patiencePause, l.checks.Patience)); err != nil {
			return err
		}
	}
}

// prove checks that the log proves the key of an agent, whose card is at a path, and keeps the head of the proof. Without a log it
// returns the agent without an index. The caller holds the lock.
func (l *KeyLog) prove(ctx context.Context, agent Brief, path string) (met provenAgent, err error) {
	met.Brief = agent
	v, err := l.view(ctx)
	if v == nil || err != nil {
		return met, err
	}
	name := cmp.Or(agent.Handle, agent.ID)
	err = l.patiently(ctx, func() error {
		card, err := One[logged](ctx, l.client, http.MethodGet, path, "bot", nil)
		switch {
		case HasCode(err, "not_found"), HasCode(err, "invalid_id"):
			return unproven("the profile of %s is closed, so the server shows no proof of its key. Ask the agent for its fingerprint over "+
				"another channel: stoa agent verify %[1]s SHA256:…; or trust the key at first use: --allow-unproven", name)
		case err != nil:
			return err
		case !strings.EqualFold(card.ID, agent.ID), agent.Handle != "" && card.Handle != agent.Handle,
			card.Key == nil || *card.Key != *agent.Key:
			return unproven("the server names two keys, ids or handles for %s at once", name)
		case !card.sequenced():
			return laterError{"the key of " + name + " is not in the key log"}
		}
		if met.index, met.witnesses, err = l.proveCard(ctx, v, card); err == nil {
			met.Handle = card.Handle
		}
		return err
	})
	return met, err
}

// proveCard checks that the log proves a card that names its entry.
func (l *KeyLog) proveCard(ctx context.Context, v *logView, card logged) (index *int64, witnesses int, err error) {
	index = card.KeyLog.Index
	newest, witnesses, err := l.include(ctx, v, *index, card.agent(*card.Key).Entry(v.host, card.KeyLog.Salt))
	switch {
	case errors.Is(err, errAbsent):
		return nil, 0, laterError{fmt.Sprintf("the key log has no entry %d", *index)}
	case err != nil:
		return nil, 0, err
	case witnesses < l.checks.Quorum:
		return nil, 0, l.belowQuorum(witnesses)
	}
	return index, witnesses, l.keep(headOf(newest, v.vkey), v)
}

func (l *KeyLog) belowQuorum(witnesses int) error {
	return laterError{fmt.Sprintf("%d known witnesses have signed the head of the key log, and the quorum is %d", witnesses, l.checks.Quorum)}
}

// Verified is an agent whose key was compared.
type Verified struct {
	Pin

	Fingerprint string `json:"fingerprint"`
	// Witnesses counts the known witnesses that have signed a head of the log which has the entry.
	Witnesses int `json:"witnesses"`
	// Missing is the reason why the log does not prove the key; empty if it does.
	Missing string `json:"missing,omitempty"`
}

// Verify looks up an agent, checks again that the log proves its key, compares the key with a fingerprint unless that is empty,
// and pins it, unless it is this agent itself. A fingerprint alone is enough if the log proves nothing. It returns ErrFingerprint
// if the fingerprint differs, or if the server names another key for this agent than its key file has.
func (a *Agent) Verify(ctx context.Context, idOrHandle, fingerprint string) (v Verified, err error) {
	found, path, own := a.itself(), "/bots/me", true
	if !found.IsNamed(idOrHandle) {
		if found, err = a.Client.Find(ctx, idOrHandle); err != nil {
			return v, err
		}
		path, own = at("/bots/", found.ID, ""), false
	}
	if found.Key == nil {
		return v, fmt.Errorf("%s has no key: it was deleted", found.Handle)
	}
	if own {
		err = a.compareOwn(ctx, found)
	} else {
		err = a.Trust.Compare(found)
	}
	if err != nil {
		return v, err
	}
	if v.Fingerprint, err = Fingerprint(*found.Key); err != nil {
		return v, err
	}
	if fingerprint != "" && fingerprint != v.Fingerprint {
		return v, refuse(ErrFingerprint, http.StatusConflict, "key_changed", "the server names %s for @%s, and you have compared with %s; "+
			"nothing was pinned", v.Fingerprint, found.Handle, fingerprint)
	}
	a.Log.mu.Lock()
	met, err := a.Log.prove(ctx, found, path)
	a.Log.mu.Unlock()
	via := met.via()
	if err == nil && met.index == nil {
		v.Missing = "the server has no key log"
	}
	if errors.Is(err, ErrUnproven) && fingerprint != "" {
		v.Missing, err, via = err.Error(), nil, ViaFirstUse
	}
	if err != nil {
		return v, err
	}
	v.Witnesses = met.witnesses
	if own {
		v.Pin = Pin{ID: found.ID, Handle: found.Handle, Key: *found.Key, Index: met.index}
		return v, nil
	}
	if via == ViaFirstUse && fingerprint != "" {
		via = ViaFingerprint
	}
	if err := a.Trust.pin(met.Brief, via, met.index); err != nil {
		return v, err
	}
	pins, err := a.Trust.Pins()
	v.Pin = pins[strings.ToLower(found.ID)]
	return v, err
}

func (a *Agent) compareOwn(ctx context.Context, own Brief) error {
	me, err := a.Me(ctx)
	if err == nil && (me.Key == nil || *me.Key != *own.Key) {
		err = refuse(ErrFingerprint, http.StatusConflict, "key_changed", "the server names another key for this agent, @%s, than its key file "+
			"holds", own.Handle)
	}
	return err
}

func (a *Agent) itself() Brief {
	key := a.Keys.Public()
	return Brief{ID: a.identity.ID, Handle: a.identity.Handle, Key: &key}
}
