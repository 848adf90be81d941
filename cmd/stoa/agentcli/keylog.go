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

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// Strictness has the flags for the checks of a server's key log.
type Strictness struct {
	LogKey  string   `group:"shared" placeholder:"VKEY" help:"The key of the server's key log, if its operator has published it elsewhere; otherwise the first one that the server names is kept."`
	Witness []string `group:"shared" placeholder:"VKEY,…" help:"Keys of witnesses of the key log that you know."`
	Quorum  int      `group:"shared" placeholder:"N" help:"How many of them must have signed before the key log proves anything; 0 by default."`
}

func (s Strictness) checks() client.Checks {
	return client.Checks{LogKey: s.LogKey, Witnesses: s.Witness, Quorum: s.Quorum}
}

func verify(c *call) error {
	found, err := c.agent.Verify(c.ctx, c.self(c.text("agent")), c.text("fingerprint"))
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
	compared, impostor := "the same", ""
	if len(found.SameKey) > 0 {
		impostor = c.sameKey(client.Brief{ID: found.ID, Handle: found.Handle, Key: &found.Key}).Error()
	}
	if !c.has("fingerprint") {
		compared = "not compared: ask the agent for it over another channel"
	}
	return c.show(found, field{"agent", "@" + found.Handle}, field{"fingerprint", found.Fingerprint}, field{"compared", compared}, field{"warning", impostor},
		field{"key log", proof}, field{"pinned via", found.Via}, field{"id", found.ID})
}

type pinned struct {
	client.Pin

	Fingerprint string   `json:"fingerprint"`
	SameKey     []string `json:"same_key,omitempty"`
}

func listPins(c *call) error {
	pins, err := c.agent.Trust.Pins()
	if err != nil {
		return err
	}
	all := make([]pinned, 0, len(pins))
	for _, pin := range slices.SortedFunc(maps.Values(pins), func(a, b client.Pin) int {
		return cmp.Or(cmp.Compare(a.Handle, b.Handle), cmp.Compare(a.ID, b.ID))
	}) {
		fingerprint, err := client.Fingerprint(pin.Key)
		if err != nil {
			return err
		}
		same, err := c.agent.SameKey(client.Brief{ID: pin.ID, Key: &pin.Key})
		if err != nil {
			return err
		}
		all = append(all, pinned{pin, fingerprint, same})
	}
	return view[pinned]{
		none: "No key of another agent is known yet.", titles: "HANDLE FINGERPRINT VIA SINCE ID SAME-KEY-AS",
		cells: func(p pinned) []string {
			return []string{p.Handle, p.Fingerprint, p.Via, p.At.Format(time.DateOnly), p.ID, handlesText(p.SameKey)}
		},
	}.table(c, all)
}

func unpin(c *call) error {
	pin, err := c.agent.Trust.Unpin(c.text("agent"))
	if err != nil {
		return err
	}
	fingerprint, err := client.Fingerprint(pin.Key)
	if err != nil {
		return err
	}
	return c.show(pinned{pin, fingerprint, nil}, field{"forgotten", fingerprint}, field{"agent", pin.Handle}, field{"id", pin.ID})
}

func watchKey(c *call) error { return c.watch(valueOf[time.Duration](c, "every"), c.agent.WatchKey) }

// watch checks a key log once, or repeatedly until an error that a new check cannot cure.
func (c *call) watch(every time.Duration, look func(context.Context) (client.Audited, error)) error {
	if every < 0 {
		return terminal.UsageError("--every must be a time such as 1h")
	}
	for {
		found, err := look(c.ctx)
		if err == nil {
			err = c.showAudited(found)
		}
		if every == 0 || client.Alarm(err) || errors.Is(err, client.ErrEpoch) {
			return err
		}
		if !errors.Is(err, context.Canceled) {
			complain(err)
		}
		if c.pause(every) != nil {
			return nil //nolint:nilerr // stopping it is no error
		}
	}
}

func (c *call) showAudited(a client.Audited) error {
	own := ""
	if a.Index != nil {
		own = fmt.Sprintf("entry %d is this agent's key, and no other is of its handle", *a.Index)
	}
	return c.show(a, field{"key log", a.Origin}, field{"its key", a.Vkey}, field{"entries", fmt.Sprintf("%d, %d read now", a.Size, a.Read)},
		field{"agents", fmt.Sprintf("%d, no handle twice", a.Agents)}, field{"own key", own}, field{"witnesses", witnessText(a)})
}

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

// ownKey checks the agent's key once, for doctor. It returns the text to print and a reason that keeps the agent from working.
// alarm is set if the log lies.
func (c *call) ownKey() (text, block string, alarm error) {
	audited, err := c.agent.WatchKey(c.ctx)
	switch {
	case err == nil:
		return "has this agent's key, and no other of its handle; " + witnessText(audited), "", nil
	case errors.Is(err, client.ErrNoLog):
		return "the server has none: keys are believed at first use", "", nil
	case client.Alarm(err):
		return "something is wrong", Explain(err).Error(), err
	case errors.Is(err, client.ErrEpoch), errors.Is(err, client.ErrUnproven):
		return "something is wrong", Explain(err).Error(), nil
	}
	return "not known: " + Explain(err).Error(), "", nil
}

func acceptEpoch(c *call) error {
	made, err := c.agent.Log.AcceptEpoch(c.ctx, c.text("new-key"))
	if err != nil {
		return err
	}
	lost := "no entry that was seen is missing"
	if made.Left < made.Kept {
		lost = fmt.Sprintf("the last %d of the %d entries that were seen are missing", made.Kept-made.Left, made.Kept)
	}
	return c.show(made, field{"key log", made.Origin}, field{"follows", made.Former}, field{"its key", made.Vkey},
		field{"entries", strconv.FormatInt(made.Size, 10)}, field{"former entries", lost}, field{"the server's reason", theirs(made.Reason)})
}

// MonitorCommand is `stoa monitor`, with which anyone may watch the key log of a server.
type MonitorCommand struct {
	URL   string `arg:"" name:"url" help:"Origin of the server."`
	State string `env:"-" placeholder:"FILE" help:"Where to keep the entries that were read; without it the log is read from its beginning."`
	JSON  bool   `env:"-" help:"Print JSON, for scripts."`

	AcceptEpoch bool `env:"-" help:"Follow a key log that was begun anew, after you have asked its operator why."`

	Every time.Duration `env:"-" placeholder:"1h" help:"Look again after that time, until a signal or an alarm ends it; otherwise look once."`

	Strictness
}

func (c MonitorCommand) Run(out io.Writer) (err error) {
	ctx, stop := untilSignal()
	defer stop()
	if c.State == "" {
		folder, err := os.MkdirTemp("", "stoa-monitor-")
		if err != nil {
			return err
		}
		defer func() {
			if !client.Alarm(err) { // the folder has the evidence of an alarm
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
	return (&call{ctx: ctx, out: out, json: c.JSON}).watch(c.Every, log.Audit)
}
