package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// oldest is the first major version of PostgreSQL that Stoa runs on (§11).
const oldest = 15

// ErrNoPrograms is returned if the machine has no PostgreSQL server that Start could run; its text names the package to install.
// ErrNoClient is the same for a client program that is new enough.
var (
	ErrNoPrograms = errors.New("no PostgreSQL server programs (postgres, initdb)")
	ErrNoClient   = errors.New("no PostgreSQL client program")
)

// programs is one installed set of server programs.
type programs struct {
	dir   string
	major int
}

// searchPaths are folders that may hold programs of PostgreSQL, besides the folder that pg_config names and PATH.
var searchPaths = []string{
	"/usr/lib/postgresql/*/bin", // Debian, Ubuntu
	"/usr/pgsql-*/bin",          // Red Hat and kin
	"/usr/lib*/postgresql*/bin", // openSUSE, Gentoo
	"/usr/libexec/postgresql*",  // Alpine
	"/usr/local/pgsql/bin",      // built from source
}

// findPrograms returns the server programs of the wanted major version, or the newest ones if none is wanted (0).
func findPrograms(ctx context.Context, paths []string, wanted int) (programs, error) {
	found := find(ctx, paths, "initdb")
	major, need, pack := newest(found), fmt.Sprintf("of version %d or newer", oldest), "postgresql"
	if wanted != 0 {
		major, pack = wanted, fmt.Sprintf("postgresql-%d", wanted)
		need = fmt.Sprintf("of version %d, which initialised this folder,", wanted)
	}
	if dir := found[major]; dir != "" && major >= oldest {
		return programs{dir, major}, nil
	}
	var others strings.Builder
	for major, dir := range found {
		fmt.Fprintf(&others, " (%s is version %d)", dir, major)
	}
	return programs{}, cmp.Or(ctx.Err(),
		fmt.Errorf("%w %s%s found: install them (apt install %s) or set STOA_DATABASE_URL", ErrNoPrograms, need, &others, pack))
}

// Client finds a client program such as pg_dump, of the major version of the server at least, since an older one refuses to
// work with it.
func Client(ctx context.Context, program string, major int) (string, error) {
	found := find(ctx, searchPaths, program)
	if best := newest(found); best >= major {
		return filepath.Join(found[best], program), nil
	}
	return "", cmp.Or(ctx.Err(),
		fmt.Errorf("%w %s of version %d or newer: install it (apt install postgresql-client-%d)", ErrNoClient, program, major, major))
}

// find returns the folders that have a program, by its major version.
func find(ctx context.Context, paths []string, program string) map[int]string {
	var dirs []string
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range paths {
		matches, _ := filepath.Glob(pattern) // the patterns are constant and well formed
		dirs = append(dirs, matches...)
	}
	found := make(map[int]string)
	for _, dir := range append(dirs, filepath.SplitList(os.Getenv("PATH"))...) {
		out, _ := exec.CommandContext(ctx, filepath.Join(dir, program), "--version").Output() //nolint:gosec // a folder of programs
		_, version, _ := strings.Cut(string(out), "(PostgreSQL) ")
		if major := majorIn(version); major != 0 && found[major] == "" {
			found[major] = dir
		}
	}
	return found
}

func newest(found map[int]string) int { return slices.Max(append(slices.Collect(maps.Keys(found)), 0)) }

// majorIn returns the number with which a version begins, or 0.
func majorIn(version string) int {
	end := strings.IndexFunc(version+".", func(r rune) bool { return r < '0' || r > '9' })
	major, _ := strconv.Atoi(version[:end])
	return major
}

// majorOf returns the version that initialised the cluster, or 0 if it does not exist.
func majorOf(folder string) int {
	version, _ := os.ReadFile(filepath.Join(folder, "PG_VERSION"))
	return majorIn(string(version))
}

// folderInChild is the cluster's folder as a child sees it: the descriptor it was given. The path works if the account may not
// traverse the folders above, and postgres does not care how long it is.
const folderInChild = "/proc/self/fd/3"

// inherited are the variables that PostgreSQL programs may see. The rest stays here: secrets, and PG* settings that would bend
// the cluster.
var inherited = []string{"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "NSS_WRAPPER_PASSWD", "NSS_WRAPPER_GROUP"}

// command prepares a program that works on the folder, as the account, in its own session: a terminal's ^C does not reach it,
// and its process group can be ended as one. The working directory is the root, since initdb returns to it at its end.
func (c *Cluster) command(ctx context.Context, folder *os.File, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.programs.dir, program), args...)
	cmd.Dir = "/"
	cmd.Env = []string{"LANG=C", "TZ=UTC"}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.ExtraFiles = []*os.File{folder}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: c.account}
	cmd.WaitDelay = 5 * time.Second // for its children to close its output
	return cmd
}

// run runs a program to its end, together with whatever it started. An error holds the last lines that the program printed.
func run(ctx context.Context, cmd *exec.Cmd) error {
	var out Output
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	if err := cmd.Run(); err != nil {
		return cmp.Or(context.Cause(ctx), out.Explain(filepath.Base(cmd.Path), err))
	}
	return nil
}

// lastPart is how many bytes of a program's output an error quotes.
const lastPart = 2 << 10

// Output keeps the last lines that a program prints. Give it to the program as standard output and standard error.
type Output struct{ tail []byte }

// Write implements io.Writer; it never fails.
func (o *Output) Write(p []byte) (int, error) {
	o.tail = append(o.tail, p...)
	if excess := len(o.tail) - lastPart; excess > 0 {
		o.tail = append(o.tail[:0], o.tail[excess:]...)
	}
	return len(p), nil
}

// Explain returns err with the program's name and its last lines.
func (o *Output) Explain(program string, err error) error {
	text := bytes.TrimSpace(o.tail)
	if _, whole, found := bytes.Cut(text, []byte("\n")); found && len(o.tail) == lastPart {
		text = whole
	}
	if len(text) == 0 {
		return fmt.Errorf("%s: %w; it printed nothing", program, err)
	}
	return fmt.Errorf("%s: %w:\n%s", program, err, text)
}
