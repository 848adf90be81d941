package selftest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"stoa/cmd/prove/report"
)

// programs are the packages of a server, with the suffixes of their programs' names.
var programs = map[string]string{"./cmd/stoa": "", "./cmd/inspect": "-inspect"}

// Build builds the server of the repository in root with a bug, into a folder that is made, and returns its program. It only reads
// the files of the repository. It uses the compiler's caches, so a build takes as long as after a change of that file.
func Build(ctx context.Context, root, folder string, bug Row) (program string, err error) {
	program = filepath.Join(folder, "stoa")
	for source, end := range programs {
		if err := bug.build(ctx, root, folder, "-ldflags", "-w", "-o", program+end, source); err != nil {
			return "", err
		}
	}
	return program, nil
}

// build runs go build with the bug; folder holds the changed file.
func (b Row) build(ctx context.Context, root, folder string, arguments ...string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	text, err := b.planted(root)
	if err != nil {
		return err
	}
	changed, overlay := filepath.Join(folder, "changed"), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, filepath.FromSlash(b.File)): changed}})
	if err = errors.Join(err, os.MkdirAll(folder, 0o700), os.WriteFile(changed, []byte(text), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-overlay", overlay}, arguments...)...)
	build.Dir, build.Env = root, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", b.Name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Result is the result of a proof of one bug, or of the server without one, which has no name.
type Result struct {
	Bug Row
	// By is the check that found it, or that service did not return; empty if nothing did.
	By string
	// After is the time from the servers' start until By found it.
	After time.Duration
	// Violation is the first violation; NotTried is why there is no result: no proof could run, or a fault could not be injected.
	Violation, NotTried string
}

// Verdict returns the result in a word or two.
func (r Result) Verdict() string {
	switch {
	case r.By != "":
		return r.By
	case r.NotTried != "":
		return "no result: " + r.NotTried
	}
	return "missed"
}

// Results are the results in the order of their proofs.
type Results []Result

// Judge returns an error if something was found in the server without a bug, if its run has no result, or if fewer than least bugs
// were found.
func (r Results) Judge(least int) error {
	if sound := r[0]; sound.By != "" {
		return fmt.Errorf("a promise was broken by the server without a bug: %s: %s", sound.By, sound.Violation)
	} else if sound.NotTried != "" {
		return fmt.Errorf("the server without a bug was not tried: %s", sound.NotTried)
	}
	if found, missed := r.count(); found < least {
		return fmt.Errorf("too few bugs were found: %d, %d are wanted; missed: %s", found, least, strings.Join(missed, ", "))
	}
	return nil
}

// count returns how many bugs were found, and the names of the missed ones.
func (r Results) count() (found int, missed []string) {
	for _, result := range r[1:] {
		if result.By != "" {
			found++
		} else if result.NotTried == "" {
			missed = append(missed, result.Bug.Name)
		}
	}
	return found, missed
}

// Fill writes the verdict and the table of a result.
func (r Results) Fill(to *report.Result) {
	found, missed := r.count()
	tried := found + len(missed)
	to.Verdict = fmt.Sprintf("**%d of %d bugs were found**, %d of the catalogue were not tried.", found, tried, len(catalogue)-tried)
	bugs := report.Table{Title: "Bugs", Head: []string{"bug", "promise that it breaks", "found by", "after"}}
	for _, result := range r {
		promise := cmp.Or(result.Bug.Promise, "the server without a bug")
		bugs.Rows = append(bugs.Rows, []string{result.Bug.Name, promise, result.Verdict(), report.Seconds(result.After)})
	}
	to.Tables = []report.Table{bugs}
}
