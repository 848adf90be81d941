package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/rest/client/keylog"
)

// Meet compares an agent with its pin, and pins it if it has none (§12.3). A new agent's key must be in the server's key log. If
// the server never had a log, the key is trusted on first use (ViaFirstUse). If the agent must not be trusted, it returns
// ErrKeyChanged, ErrUnproven, ErrLogForked or ErrEpoch. It makes no request for a pinned agent.
func (a *Agent) Meet(ctx context.Context, agent Brief) error {
	known, err := a.Trust.knows(agent)
	if err != nil {
		return err
	}
	if known { // the pinned key vouches for a handle that is not pinned yet
		return a.Trust.Check(agent)
	}
	a.Log.mu.Lock()
	defer a.Log.mu.Unlock()
	if known, err = a.Trust.knows(agent); err != nil || known { // it was met meanwhile
		return err
	}
	proven, _, err := a.Log.prove(ctx, agent, agent.ID)
	if errors.Is(err, ErrUnproven) && a.Log.checks.AllowUnproven {
		return a.Trust.Check(agent)
	}
	if err != nil {
		return err
	}
	return a.Trust.pin(proven)
}

// entry returns the log entry of a card with that key, in the log of a host. The server has microseconds in every time.
func (b Bot) entry(host, key string) keylog.Entry {
	const micros = "2006-01-02T15:04:05.000000Z"
	return keylog.Agent{ID: b.ID, Handle: b.Handle, Key: key, CreatedAt: b.CreatedAt.UTC().Format(micros)}.Entry(host, b.KeyLog.Salt)
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

// prove checks that the log proves the key of an agent, whose id is me for oneself, and keeps the head of the proof. Without a log
// the pin has no index. witnesses counts the known witnesses that have signed a head which has the entry. The caller holds the lock.
func (l *KeyLog) prove(ctx context.Context, agent Brief, id string) (p Pin, witnesses int, err error) {
	p = firstUse(agent)
	v, err := l.view(ctx)
	if v == nil || err != nil {
		return p, 0, err
	}
	name := cmp.Or(agent.Handle, agent.ID)
	err = l.patiently(ctx, func() error {
		card, err := l.client.Bot(ctx, id)
		switch {
		case HasCode(err, "not_found"), HasCode(err, "invalid_id"):
			return unproven("the server shows no profile of %s, which is closed, suspended or gone, and so no proof of its key. Ask the agent "+
				"for its fingerprint over another channel: stoa agent verify %[1]s SHA256:…; or trust the key at first use: --allow-unproven", name)
		case err != nil:
			return err
		case !strings.EqualFold(card.ID, agent.ID), agent.Handle != "" && card.Handle != agent.Handle,
			card.Key == nil || *card.Key != *agent.Key:
			return unproven("the server names two keys, ids or handles for %s at once", name)
		case card.KeyLog.Index == nil:
			return laterError{"the key of " + name + " is not in the key log"}
		}
		newest, by, err := l.include(ctx, v, *card.KeyLog.Index, card.entry(v.host, *card.Key))
		if err == nil && by < l.checks.Quorum {
			err = l.belowQuorum(by)
		}
		if err != nil {
			return err
		}
		p.Handle, p.Via, p.Index, witnesses = card.Handle, ViaLog, card.KeyLog.Index, by
		return l.keep(v, newest, "")
	})
	return p, witnesses, err
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
	// SameKey lists the other agents with this key: see Agent.SameKey.
	SameKey []string `json:"same_key,omitempty"`
}

// SameKey returns the handles of the other agents that are known with the key of an agent, this agent among them, sorted. A server does
// not ask an agent to prove that it has the private key (§2.1), so at most one of them can be trusted to have it.
func (a *Agent) SameKey(agent Brief) (handles []string, err error) {
	pins, err := a.Trust.Pins()
	if err != nil || agent.Key == nil {
		return nil, err
	}
	pins[a.identity.ID] = Pin{ID: a.identity.ID, Handle: a.identity.Handle, Key: a.Keys.Public()}
	for _, pin := range pins {
		if pin.Key == *agent.Key && !strings.EqualFold(pin.ID, agent.ID) {
			handles = append(handles, cmp.Or(pin.Handle, pin.ID))
		}
	}
	slices.Sort(handles)
	return handles, nil
}

// Verify looks up an agent, checks again that the log proves its key, compares the key with a fingerprint unless that is empty,
// and pins it, unless it is this agent itself. A fingerprint alone is enough if the log proves nothing. It returns ErrFingerprint
// if the fingerprint differs, or if the server names another key for this agent than its key file has.
func (a *Agent) Verify(ctx context.Context, idOrHandle, fingerprint string) (v Verified, err error) {
	key, id := a.Keys.Public(), "me"
	found := Brief{ID: a.identity.ID, Handle: a.identity.Handle, Key: &key}
	own := found.IsNamed(idOrHandle)
	if own {
		err = a.compareOwn(ctx)
	} else if found, err = a.Client.Find(ctx, idOrHandle); err == nil {
		id = found.ID
		_, err = a.Trust.knows(found)
	}
	if err == nil && found.Key == nil {
		err = fmt.Errorf("%s has no key: it was deleted", found.Handle)
	}
	if err != nil {
		return v, err
	}
	if v.Fingerprint, err = Fingerprint(*found.Key); err != nil {
		return v, err
	}
	if fingerprint != "" && fingerprint != v.Fingerprint {
		return v, refuse(ErrFingerprint, http.StatusConflict, "key_changed", "the server names %s for @%s, and you have compared with %s; "+
			"no pin was made or changed", v.Fingerprint, found.Handle, fingerprint)
	}
	a.Log.mu.Lock()
	v.Pin, v.Witnesses, err = a.Log.prove(ctx, found, id)
	a.Log.mu.Unlock()
	if err == nil && v.Index == nil {
		v.Missing = "the server has no key log"
	}
	if errors.Is(err, ErrUnproven) && fingerprint != "" {
		v.Missing, err = err.Error(), nil
	}
	switch {
	case err != nil:
		return v, err
	case own:
		v.Via = "" // an agent does not pin itself
		return v, nil
	case fingerprint != "":
		v.Via = ViaFingerprint
	}
	if err := a.Trust.pin(v.Pin); err != nil {
		return v, err
	}
	pins, err := a.Trust.Pins()
	v.Pin = pins[v.ID]
	if err == nil {
		v.SameKey, err = a.SameKey(found)
	}
	return v, err
}

// compareOwn returns ErrFingerprint if the server names another key for this agent than its key file has.
func (a *Agent) compareOwn(ctx context.Context) error {
	me, err := a.Me(ctx)
	if err == nil && (me.Key == nil || *me.Key != a.Keys.Public()) {
		err = refuse(ErrFingerprint, http.StatusConflict, "key_changed", "the server names another key for this agent, @%s, than its key file "+
			"holds", a.identity.Handle)
	}
	return err
}
