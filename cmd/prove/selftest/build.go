package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Builder builds servers with a bug. Its caches are the compiler's, so a build takes as long as after a change of that file.
type Builder struct {
	// Root is the repository's folder, Folder where programs go. Program is the server without a bug, or empty: a bug of an embedded
	// file needs no compiler then.
	Root, Folder, Program string
}

// programs are the packages that a server consists of, with the ends of their programs' names.
var programs = map[string]string{"./cmd/stoa": "", "./cmd/inspect": "-inspect"}

// Build builds the server with a bug and returns its program, which the caller removes by Remove. Files of the repository are only
// read.
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

// Remove removes what Build has made.
func (b Builder) Remove(bug Row) error { return os.RemoveAll(filepath.Join(b.Folder, bug.Name)) }
