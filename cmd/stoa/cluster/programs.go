package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldest is the first major version of PostgreSQL that Stoa runs on (§11).
const oldest = 15

// ErrNoPrograms says that the machine has no PostgreSQL server that Start could
// run; its text names the package to install.
var ErrNoPrograms = errors.New("no PostgreSQL server programs (postgres, initdb)")

// programs is one installed set of server programs.
type programs struct {
	dir   string
	major int
}

// searchPaths are where server programs may be.
type searchPaths struct {
	config  string   // the pg_config program, by name or path
	folders []string // glob patterns; within one, the highest version comes first
}

var defaultPaths = searchPaths{
	config: "pg_config",
	folders: []string{
		"/usr/lib/postgresql/*/bin", // Debian, Ubuntu
		"/usr/pgsql-*/bin",          // Red Hat and kin
		"/usr/lib*/postgresql*/bin", // openSUSE, Gentoo
		"/usr/libexec/postgresql*",  // Alpine
		"/usr/local/pgsql/bin",      // built from source
	},
}

// find picks the first set in the order pg_config, folders, PATH whose major
// version is the wanted one, or, where none is wanted (0), is new enough.
func (p searchPaths) find(ctx context.Context, wanted int) (programs, error) {
	var seen []string
	for _, dir := range p.candidates(ctx) {
		major := versionOf(ctx, dir)
		if major >= oldest && (wanted == 0 || wanted == major) {
			return programs{dir, major}, nil
		}
		if major > 0 {
			seen = append(seen, fmt.Sprintf("%s is version %d", dir, major))
		}
	}
	if err := ctx.Err(); err != nil {
		return programs{}, err
	}
	need, pack := fmt.Sprintf("of version %d or newer", oldest), "postgresql"
	if wanted != 0 {
		need, pack = fmt.Sprintf("of version %d, which initialised this folder,", wanted), fmt.Sprintf("postgresql-%d", wanted)
	}
	found := ""
	if len(seen) > 0 {
		found = " (" + strings.Join(seen, "; ") + ")"
	}
	return programs{}, fmt.Errorf("%w %s found%s: install them (apt install %s) or set STOA_DATABASE_URL", ErrNoPrograms, need, found, pack)
}

func (p searchPaths) candidates(ctx context.Context) []string {
	var dirs []string
	if out, err := exec.CommandContext(ctx, p.config, "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range p.folders {
		matches, _ := filepath.Glob(pattern) // the patterns are constant and well formed
		slices.SortStableFunc(matches, func(a, b string) int { return cmp.Compare(findNumber(b, -1), findNumber(a, -1)) })
		dirs = append(dirs, matches...)
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(target))
		}
	}
	return dirs
}

var numbers = regexp.MustCompile(`\d+`)

// findNumber returns the first (0) or last (-1) number in s, or 0 if it has none.
func findNumber(s string, which int) int {
	all := numbers.FindAllString(s, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(all[(which+len(all))%len(all)]) // digits; one out of range is no version
	return n
}

// versionOf is the major version of a complete set, or 0.
func versionOf(ctx context.Context, dir string) int {
	if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err != nil {
		return 0
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0
	}
	_, version, _ := strings.Cut(string(out), "(PostgreSQL)")
	return findNumber(version, 0)
}

// majorOf returns the version that initialised the cluster, or 0 if it does not exist.
func majorOf(folder string) int {
	b, err := os.ReadFile(filepath.Join(folder, "PG_VERSION"))
	if err != nil {
		return 0
	}
	return findNumber(string(b), 0)
}

// ErrNoClient says that the machine lacks a client program that is new enough; its text names the package to install.
var ErrNoClient = errors.New("no PostgreSQL client program")

// Client finds a client program such as pg_dump, of the major version of the server at least, since an older one refuses to
// work with it.
func Client(ctx context.Context, program string, major int) (string, error) {
	paths := make([]string, 0, 8)
	for _, dir := range defaultPaths.candidates(ctx) {
		paths = append(paths, filepath.Join(dir, program))
	}
	if path, err := exec.LookPath(program); err == nil {
		paths = append(paths, path)
	}
	for _, path := range paths {
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if _, version, named := strings.Cut(string(out), "(PostgreSQL)"); err == nil && named && findNumber(version, 0) >= major {
			return path, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%w %s of version %d or newer: install it (apt install postgresql-client-%d)", ErrNoClient, program, major, major)
}
