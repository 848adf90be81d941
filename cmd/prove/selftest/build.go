package selftest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/report"
)

// Builder builds servers with a bug. It uses the compiler's caches, so a build takes as long as after a change of that file.
type Builder struct {
	// Root is the repository's folder, Folder the folder for programs. Program is the server without a bug, or empty: with it, an
	// embedded file with a bug needs no compiler.
	Root, Folder, Program string
}

// programs are the packages of a server, with the suffixes of their programs' names.
var programs = map[string]string{"./cmd/stoa": "", "./cmd/inspect": "-inspect"}

// Build builds the server with a bug and returns its program, which the caller deletes with Remove. It only reads the files of
// the repository.
func (b Builder) Build(ctx context.Context, bug Row) (program string, err error) {
	root, err := filepath.Abs(b.Root)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(b.Folder, bug.Name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	original, text, err := bug.planted(root)
	if err != nil {
		return "", err
	}
	program = filepath.Join(folder, "stoa")
	if strings.HasSuffix(bug.File, ".sql") {
		if done, err := b.patch(program, original, text); done || err != nil {
			return program, err
		}
	}
	changed, overlay := filepath.Join(folder, "changed"), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(root, filepath.FromSlash(bug.File)): changed},
	})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(changed, []byte(text), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
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

// Remove deletes the output of Build.
func (b Builder) Remove(bug Row) error { return os.RemoveAll(filepath.Join(b.Folder, bug.Name)) }

// patch makes programs with a bug of a file that is embedded in the server, such as SQL, without the compiler: it replaces the
// text in the server's program with the planted text. done is false if there is no program, if the program does not have the text
// exactly once, or if the planted text does not fit.
func (b Builder) patch(program, original, planted string) (done bool, err error) {
	if b.Program == "" {
		return false, nil
	}
	for _, end := range programs {
		content, err := os.ReadFile(b.Program + end)
		if err != nil {
			return false, err
		}
		if end == "" {
			text, fits := fitted(planted, len(original))
			if !fits || bytes.Count(content, []byte(original)) != 1 {
				return false, nil
			}
			content = bytes.Replace(content, []byte(original), []byte(text), 1)
		}
		if err := os.WriteFile(program+end, content, 0o700); err != nil { //nolint:gosec // a program
			return false, err
		}
	}
	return true, nil
}

// fitted returns SQL of that length in bytes: padded with spaces, or without first comments. fits is false if they are too short.
func fitted(text string, length int) (fitting string, fits bool) {
	for len(text) > length {
		begin, end := comment(text)
		if end == 0 {
			return "", false
		}
		text = text[:begin] + text[end:]
	}
	return text + strings.Repeat(" ", length-len(text)), true
}

// directive matches the lines of comments that the server reads.
var directive = regexp.MustCompile(`^-- (name:|text:|\+goose)`)

// comment finds the first line that is only a comment, and no directive; end is 0 if the text has no such line.
func comment(text string) (begin, end int) {
	for line := range strings.Lines(text) {
		end = begin + len(line)
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "-- ") && !directive.MatchString(trimmed) {
			return begin, end
		}
		begin = end
	}
	return 0, 0
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

// Verdicts of a self-test.
var (
	ErrUnsound = errors.New("a promise was broken by the server without a bug")
	ErrUntried = errors.New("the server without a bug was not tried")
	ErrMissed  = errors.New("too few bugs were found")
)

// Judge returns ErrUnsound if something was found in the server without a bug, ErrUntried if its run has no result, and ErrMissed if
// fewer than least bugs were found.
func (r Results) Judge(least int) error {
	if sound := r[""]; sound.By != "" {
		return fmt.Errorf("%w: %s: %s", ErrUnsound, sound.By, sound.Violation)
	} else if sound.NotTried != "" {
		return fmt.Errorf("%w: %s", ErrUntried, sound.NotTried)
	}
	if found, missed := r.count(); found < least {
		return fmt.Errorf("%w: %d, %d are wanted; missed: %s", ErrMissed, found, least, strings.Join(missed, ", "))
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
