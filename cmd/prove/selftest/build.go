package selftest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
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
