package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/report"
)

// programs are the packages of a server, with the suffixes of their programs' names.
var programs = map[string]string{"./cmd/stoa": "", "./cmd/inspect": "-inspect"}

// Build builds the server of the repository in root with a bug, into a folder that is made, and returns its program. It only reads
// the files of the repository. It uses the compiler's caches, so a build takes as long as after a change of that file.
func Build(ctx context.Context, root, folder string, bug Row) (program string, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return "", err
	}
	text, err := bug.planted(root)
	if err != nil {
		return "", err
	}
	program, changed, overlay := filepath.Join(folder, "stoa"), filepath.Join(folder, "changed"), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(root, filepath.FromSlash(bug.File)): changed},
	})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(changed, []byte(text), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return "", err
	}
	for source, end := range programs {
		build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-ldflags", "-w", "-o", program+end, source)
		build.Dir = root
		build.Env = append(os.Environ(), "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", bug.Name, err, strings.TrimSpace(string(out)))
		}
	}
	return program, nil
}

// Result is the result of a proof of one bug, or of the server without one, which has no name.
type Result struct {
	Bug string `json:"bug"`
	// By is the check that found it, or that service did not return; empty if nothing did.
	By string `json:"by,omitempty"`
	// After is the time from the servers' start until By found it.
	After time.Duration `json:"after,omitempty"`
	// Version is the version of the server in which the bug was planted.
	Version string `json:"version,omitempty"`
	// Violation is the first violation; NotTried is why there is no result: no proof could run, or a fault could not be injected.
	Violation string `json:"violation,omitempty"`
	NotTried  string `json:"not_tried,omitempty"`
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

// Results maps the names of bugs to their results.
type Results map[string]Result

// Load reads results of earlier runs from a file, which may be missing. It leaves out bugs that the catalogue no longer has.
func Load(file string) (Results, error) {
	all := make(Results)
	text, err := os.ReadFile(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	var list []Result
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	for _, result := range list {
		if result.Bug == "" || slices.Contains(Names(), result.Bug) {
			all[result.Bug] = result
		}
	}
	return all, err
}

// Keep writes all results to a file, if it has a name, in the order of the catalogue.
func (r Results) Keep(file string) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r.inOrder(), "", "  ")
	return errors.Join(err, os.WriteFile(file, text, 0o600))
}

func (r Results) inOrder() (all []Result) {
	for _, name := range append([]string{""}, Names()...) {
		if result, is := r[name]; is {
			all = append(all, result)
		}
	}
	return all
}

// Tried reports whether a bug was found or missed.
func (r Results) Tried(bug string) bool {
	result, is := r[bug]
	return is && result.NotTried == ""
}

// Untried returns the bugs that were neither found nor missed.
func (r Results) Untried(bugs []Row) []Row {
	return slices.DeleteFunc(slices.Clone(bugs), func(b Row) bool { return r.Tried(b.Name) })
}

// Judge returns an error if something was found in the server without a bug, if its run has no result, or if fewer than least bugs
// were found.
func (r Results) Judge(least int) error {
	if sound := r[""]; sound.By != "" {
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
	for _, result := range r.inOrder() {
		if result.Bug != "" && result.By != "" {
			found++
		} else if result.Bug != "" && result.NotTried == "" {
			missed = append(missed, result.Bug)
		}
	}
	return found, missed
}

// Fill writes the verdict and the table of a result.
func (r Results) Fill(to *report.Result) {
	found, missed := r.count()
	tried := found + len(missed)
	to.Verdict = fmt.Sprintf("**%d of %d bugs were found**, %d of the catalogue were not tried.", found, tried, len(catalogue)-tried)
	bugs := report.Table{Title: "Bugs", Head: []string{"bug", "promise that it breaks", "found by", "after", "version"}}
	for _, result := range r.inOrder() {
		promise := "the server without a bug"
		if i := slices.Index(Names(), result.Bug); i >= 0 {
			promise = catalogue[i].Promise
		}
		bugs.Rows = append(bugs.Rows, []string{result.Bug, promise, result.Verdict(), report.Seconds(result.After), result.Version})
	}
	to.Tables = []report.Table{bugs}
}
