package cluster

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/slack"
)

// serverEnv makes the test binary a server process on the folder that it names. The process prints the database's URL and stops
// when its standard input ends.
const serverEnv = "STOA_CLUSTER_TEST_FOLDER"

func TestMain(m *testing.M) {
	if folder, ok := os.LookupEnv(serverEnv); ok {
		os.Exit(serve(folder))
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(parallelTests) // it is a number
	}
	code := m.Run()
	_ = os.RemoveAll(templateFolder)
	os.Exit(code)
}

// parallelTests bounds the databases that run at once: most of a test is waiting for them.
const parallelTests = "6"

// templateFolder holds the folder that initialised copies.
var templateFolder string

var initialisedTemplate = sync.OnceValues(func() (string, error) {
	var err error
	if templateFolder, err = os.MkdirTemp("", "stoa-template-"); err != nil {
		return "", err
	}
	folder := filepath.Join(templateFolder, "data")
	c, err := Start(context.Background(), config(folder))
	if err != nil {
		return "", err
	}
	return folder, c.Stop(context.Background())
})

// initialised copies a cluster that was started and stopped before into a new data folder, and returns the folder. It saves the
// time of initdb.
func initialised(t *testing.T, folder string) string {
	t.Helper()
	template := must(initialisedTemplate())(t)
	out, err := exec.CommandContext(t.Context(), "cp", "-a", template, folder).CombinedOutput() // files keep their owner
	require.NoError(t, err, "%s", out)
	return folder
}

func serve(folder string) int {
	c, err := Start(context.Background(), config(folder))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(c.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := c.Stop(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// server is a server process.
type server struct {
	*exec.Cmd
	out io.Reader
	in  io.Closer
}

// spawn runs a server process as the given account, or as the test's own. The process inherits the open binary, since another
// account cannot reach its path.
func spawn(t *testing.T, folder string, as *syscall.Credential) *server {
	t.Helper()
	binary := must(os.Open("/proc/self/exe"))(t)
	defer binary.Close()
	cmd := exec.Command("/proc/self/fd/3")
	cmd.Env = append(os.Environ(), serverEnv+"="+folder)
	cmd.Stderr, cmd.ExtraFiles, cmd.Dir = os.Stderr, []*os.File{binary}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	s := &server{Cmd: cmd, out: must(cmd.StdoutPipe())(t), in: must(cmd.StdinPipe())(t)}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = s.in.Close()
		_ = cmd.Wait()
	})
	return s
}

// url waits until the server serves.
func (s *server) url(t *testing.T) string {
	t.Helper()
	b := make([]byte, 4096)
	n, err := s.out.Read(b)
	require.NoError(t, err, "the server process failed")
	return strings.TrimSpace(string(b[:n]))
}

func (s *server) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, s.Process.Kill())
	_ = s.Wait()
}

// must returns the result of a call that must succeed: must(os.Stat(path))(t).
func must[T any](result T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		require.NoError(t, err)
		return result
	}
}

func config(folder string) Config {
	return Config{DataDir: folder, Volatile: true, Logger: slog.New(slog.DiscardHandler)}
}

func start(t *testing.T, config Config) *Cluster {
	t.Helper()
	c := must(Start(t.Context(), config))(t)
	t.Cleanup(func() { stop(t, c) })
	return c
}

// stop is harmless when the test has stopped the cluster itself.
func stop(t *testing.T, c *Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), slack.TestWait)
	defer cancel()
	require.NoError(t, c.Stop(ctx))
}

func connect(t *testing.T, url string) *sql.DB {
	t.Helper()
	db := must(sql.Open("postgres", url))(t)
	t.Cleanup(func() { _ = db.Close() }) // its connections may be dead
	return db
}

func execSQL(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	require.NoError(t, err, statement)
}

func queryValue[T any](t *testing.T, db *sql.DB, query string) T {
	t.Helper()
	var v T
	require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&v), query)
	return v
}

// nightly skips t with -short: it runs every night.
func nightly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs every night, without -short")
	}
}

// eventually waits for a state that other processes cause.
func eventually(t *testing.T, condition func() bool, message string) {
	t.Helper()
	require.Eventually(t, condition, slack.TestWait, 5*time.Millisecond, message)
}

// flushed makes the commits of a session on a volatile cluster outlive its processes.
const flushed = "&synchronous_commit=on"

// pidOf returns the pid of the folder's postmaster, from postmaster.pid.
func pidOf(t *testing.T, folder string) int {
	t.Helper()
	text := must(os.ReadFile(filepath.Join(folder, "postgres", "postmaster.pid")))(t)
	first, _, _ := strings.Cut(string(text), "\n")
	return must(strconv.Atoi(first))(t)
}

// isStopped reports whether no process of the folder's cluster is left. A process that another test just starts holds the
// folder's lock until it runs its own program, so callers wait.
func isStopped(t *testing.T, folder string) bool {
	t.Helper()
	dir := must(os.Open(filepath.Join(folder, "postgres")))(t)
	defer dir.Close()
	return must(tryLock(dir))(t)
}

func unfinishedIn(t *testing.T, folder string) []string {
	t.Helper()
	return must(filepath.Glob(filepath.Join(folder, unfinished+"*")))(t)
}

func nobody(t *testing.T) *syscall.Credential {
	t.Helper()
	found := must(user.Lookup("nobody"))(t)
	uid := must(strconv.Atoi(found.Uid))(t)
	gid := must(strconv.Atoi(found.Gid))(t)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
