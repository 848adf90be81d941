package agentcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/rest/client"
)

type verifyCommand struct {
	peer

	Fingerprint string `arg:"" optional:"" help:"What the agent says its fingerprint is, over another channel: SHA256:…; empty: only the key log is asked."`
}

// Run implements kong's command.
func (c verifyCommand) Run(d *deps, a *client.Agent) error {
	found, err := a.Verify(d.ctx, self(a, c.Agent), c.Fingerprint)
	if err != nil {
		return err
	}
	proof := "it proves the key, signed by " + strconv.Itoa(found.Witnesses) + " of the known witnesses"
	switch {
	case found.Missing != "":
		proof = "it does not prove the key: " + found.Missing
	case found.Witnesses == 0:
		proof = "it proves the key; not witnessed"
	}
	compared := "the same"
	if c.Fingerprint == "" {
		compared = "not compared: ask the agent for it over another channel"
	}
	return d.show(found, field{"agent", "@" + found.Handle}, field{"fingerprint", found.Fingerprint}, field{"compared", compared},
		field{"key log", proof}, field{"pinned via", found.Via}, field{"id", found.ID})
}

type watchKeyCommand struct{ every }

// Run implements kong's command.
func (c watchKeyCommand) Run(d *deps, a *client.Agent) error {
	return c.repeat(d, a.WatchKey)
}

// every is part of a command that looks at a key log.
type every struct {
	Every time.Duration `env:"-" placeholder:"1h" help:"Look again after that time, until a signal or an alarm ends it; otherwise look once."`
}

// Validate implements kong's validation.
func (e every) Validate() error {
	if e.Every < 0 {
		return errors.New("--every must be a time such as 1h")
	}
	return nil
}

// repeat looks once, or again and again until something is wrong that looking again does not mend.
func (e every) repeat(d *deps, look func(context.Context) (client.Audited, error)) error {
	for {
		found, err := look(d.ctx)
		if err == nil {
			err = d.showAudited(found)
		}
		if e.Every == 0 || client.Alarm(err) || errors.Is(err, client.ErrEpoch) {
			return err
		}
		if !errors.Is(err, context.Canceled) {
			complain(err)
		}
		select {
		case <-d.ctx.Done():
			return nil
		case <-time.After(e.Every):
		}
	}
}

func (d *deps) showAudited(a client.Audited) error {
	own := ""
	if a.Index != nil {
		own = fmt.Sprintf("entry %d is this agent's key, and no other is of its handle", *a.Index)
	}
	return d.show(a, field{"key log", a.Origin}, field{"its key", a.Vkey}, field{"entries", fmt.Sprintf("%d, %d read now", a.Size, a.Read)},
		field{"agents", fmt.Sprintf("%d, no handle twice", a.Agents)}, field{"own key", own}, field{"witnesses", witnessText(a)})
}

// witnessText says which known witnesses have signed a head, and when.
func witnessText(a client.Audited) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(a.Witnesses)) {
		all = append(all, name+" at "+utc(a.Witnesses[name]))
	}
	text := cmp.Or(strings.Join(all, ", "), "not witnessed")
	if len(all) == 0 && len(a.Claimed) > 0 {
		text += "; the server names " + strings.Join(a.Claimed, ", ") + ": name one that you know with --witness"
	}
	return text
}

// ownKeyFinding holds doctor's finding in the key log: the text that it prints, and a reason that keeps the agent from working.
type ownKeyFinding struct{ text, block string }

// ownKey watches the key once. alarm is set if the log lies.
func (d *deps) ownKey(a *client.Agent) (found ownKeyFinding, alarm error) {
	audited, err := a.WatchKey(d.ctx)
	switch {
	case err == nil:
		return ownKeyFinding{text: "has this agent's key, and no other of its handle; " + witnessText(audited)}, nil
	case errors.Is(err, client.ErrNoLog):
		return ownKeyFinding{text: "the server has none: keys are believed at first use"}, nil
	case client.Alarm(err), errors.Is(err, client.ErrEpoch), errors.Is(err, client.ErrUnproven):
		found = ownKeyFinding{text: "something is wrong", block: Explain(err).Error()}
		if client.Alarm(err) {
			alarm = err
		}
		return found, alarm
	}
	return ownKeyFinding{text: "not known: " + Explain(err).Error()}, nil
}

type acceptEpochCommand struct {
	NewKey string `env:"-" placeholder:"VKEY" help:"The key of the log, as its operator has published it elsewhere, if the former key was lost."`
}

// Run implements kong's command.
func (c acceptEpochCommand) Run(d *deps, a *client.Agent) error {
	made, err := a.Log.AcceptEpoch(d.ctx, c.NewKey)
	if err != nil {
		return err
	}
	lost := "nothing of what was seen is missing"
	if made.Left < made.Kept {
		lost = fmt.Sprintf("the last %d of the %d entries that were seen are missing", made.Kept-made.Left, made.Kept)
	}
	return d.show(made, field{"key log", made.Origin}, field{"follows", made.Former}, field{"its key", made.Vkey},
		field{"entries", strconv.FormatInt(made.Size, 10)}, field{"former entries", lost}, field{"the server's reason", theirs(made.Reason)})
}

// MonitorCommand is `stoa monitor`: anyone may watch the key log of a server.
type MonitorCommand struct {
	URL   string `arg:"" name:"url" help:"Origin of the server."`
	State string `env:"-" placeholder:"FILE" help:"Where to keep what was read; without it the log is read from its beginning."`
	JSON  bool   `env:"-" help:"Print JSON, for scripts."`

	AcceptEpoch bool `env:"-" help:"Follow a key log that was begun anew, after you have asked its operator why."`

	Strictness
	every
}

// Run implements kong's command.
func (c MonitorCommand) Run(out io.Writer) (err error) {
	ctx, stop := untilSignal()
	defer stop()
	if c.State == "" {
		folder, err := os.MkdirTemp("", "stoa-monitor-")
		if err != nil {
			return err
		}
		defer func() {
			if !client.Alarm(err) { // the evidence is in it
				err = errors.Join(err, os.RemoveAll(folder))
			}
		}()
		c.State = filepath.Join(folder, "state")
	}
	log, err := client.OpenKeyLog(c.State, c.URL, client.Options{Checks: c.checks()})
	if err != nil {
		return err
	}
	if c.AcceptEpoch {
		if _, err := log.AcceptEpoch(ctx, ""); err != nil {
			return err
		}
	}
	return c.repeat(&deps{ctx: ctx, out: out, json: c.JSON}, log.Audit)
}
