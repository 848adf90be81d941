package cluster

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoClient says that the machine lacks a client program that is new enough; its text names the package to install.
var ErrNoClient = errors.New("no PostgreSQL client program")

// Client finds a client program such as pg_dump, of the major version of the server at least, since an older one refuses to
// work with it.
func Client(ctx context.Context, program string, major int) (string, error) {
	paths := make([]string, 0, 8)
	for _, dir := range installed.candidates(ctx) {
		paths = append(paths, filepath.Join(dir, program))
	}
	if path, err := exec.LookPath(program); err == nil {
		paths = append(paths, path)
	}
	for _, path := range paths {
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if _, version, named := strings.Cut(string(out), "(PostgreSQL)"); err == nil && named && number(version, 0) >= major {
			return path, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%w %s of version %d or newer: install it (apt install postgresql-client-%d)", ErrNoClient, program, major, major)
}
