package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/user"
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
// ErrNoClient is returned if it has no client program of a sufficient version.
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
	"/usr/pgsql-*/bin",          // Red Hat and derivatives
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
	major := 0
	_, _ = fmt.Sscanf(version, "%d", &major) // it stays 0
	return major
}

// majorOf returns the version that initialised the cluster, or 0 if it does not exist.
func majorOf(folder string) int {
	version, _ := os.ReadFile(filepath.Join(folder, "PG_VERSION"))
	return majorIn(string(version))
}

// folderInChild is the path of the cluster's folder in a child, by an inherited descriptor. It works even if the account may not
// traverse the folders above, or if their path is too long for postgres.
const folderInChild = "/proc/self/fd/3"

// inherited are the variables that PostgreSQL programs may see. They exclude secrets, and PG* settings that would change the
// cluster.
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

// run runs a program to its end, with all processes that it started. An error holds the last lines that the program printed.
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

// chooseAccount returns the account that runs the PostgreSQL programs and owns the cluster's folder, or nil for this process's
// account. Root takes the owner of an existing cluster. For a new one it takes the owner of the data folder. If that owner is
// root, or has no name (initdb needs one), it takes the account postgres or nobody.
func chooseAccount(data, folder string) (*syscall.Credential, error) {
	owner, err := ownerOf(folder)
	exists := !errors.Is(err, fs.ErrNotExist)
	if own := os.Geteuid(); own != 0 {
		if exists && err == nil && int(owner.Uid) != own {
			err = fmt.Errorf("%s belongs to uid %d: start the server as that account or as root", folder, owner.Uid)
		}
		if exists && err != nil {
			return nil, err
		}
		return nil, nil
	}
	if !exists {
		if owner, err = ownerOf(data); err == nil {
			_, nameless := user.LookupId(strconv.Itoa(int(owner.Uid)))
			if owner.Uid == 0 || nameless != nil {
				return unprivileged()
			}
		}
	}
	if err == nil && owner.Uid == 0 {
		err = fmt.Errorf("%s belongs to root, which PostgreSQL refuses to run as: give it to an unprivileged account (chown -R)", folder)
	}
	return owner, err
}

func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		if found, err := user.Lookup(name); err == nil {
			uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
			gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
		}
	}
	return nil, errors.New("started as root, but there is no account to run PostgreSQL as: create the account postgres")
}

// ownerOf returns the owner of a folder. A child that becomes it drops its supplementary groups.
func ownerOf(path string) (*syscall.Credential, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", path)
	}
	return &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}, nil
}

// chown gives a file that this process made to the account, so that a server started as that account later can use it too.
func chown(f *os.File, to *syscall.Credential) error {
	if to == nil {
		return nil
	}
	return f.Chown(int(to.Uid), int(to.Gid))
}

const logLimit = 8 << 20 // bytes of postgres.log before it becomes postgres.log.1

// logFile is postgres.log. A full one replaces postgres.log.1.
type logFile struct {
	path    string
	account *syscall.Credential
	file    *os.File
	size    int64
}

// openLog refuses a symbolic link: root may be writing into a folder of another account.
func (c *Cluster) openLog() (*logFile, error) {
	l := &logFile{path: filepath.Join(c.data, "postgres.log"), account: c.account}
	return l, l.open()
}

func (l *logFile) open() (err error) {
	if l.file, err = os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600); err != nil {
		return err
	}
	l.size, err = l.file.Seek(0, io.SeekEnd)
	return errors.Join(err, chown(l.file, l.account))
}

// Write never fails: if the disk is full, lines are lost, and the database goes on.
func (l *logFile) Write(p []byte) (int, error) {
	if l.size > logLimit {
		_ = errors.Join(l.file.Close(), os.Rename(l.path, l.path+".1"), l.open()) // the next part tries again
	}
	n, _ := l.file.Write(p)
	l.size += int64(n)
	return len(p), nil
}
