package main

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stoa/graph/graphtest"
	"stoa/jobs/inspection"
	"stoa/rest/resttest"
)

// testProgram is the binary under test, with the child's program beside it. The go command links them again only if a source has
// changed.
const testProgram = "../../bin/test/stoa"

// parallelTests bounds the tests, and so the servers, that run at once. More tests are not faster on two cores, but delay each
// other.
const parallelTests = "4"

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(parallelTests) // it is a number
	}
	// Without debug information linking takes half the time. Like an installed package the program has a file of settings, in its
	// working folder.
	flags := "-ldflags=-s -w -X main.environmentFile=" + packagedFile
	detector := fmt.Sprintf("-race=%t", detectsRaces())
	child := filepath.Join(filepath.Dir(testProgram), inspection.Program)
	for _, build := range [][]string{{flags, detector, "-o", testProgram, "."}, {flags, "-o", child, "../inspect"}} {
		if out, err := exec.Command("go", append([]string{"build"}, build...)...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			os.Exit(1)
		}
	}
	if err := makeSharedKey(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := resttest.Main(m, resttest.Mixed)
	theProgram.end()
	sharedWorld.Close()
	_ = os.RemoveAll(templateFolder)
	_ = os.RemoveAll(filepath.Dir(sharedKey))
	os.Exit(code)
}

// detectsRaces reports whether the tests run with the race detector; then their servers have it, too.
func detectsRaces() bool {
	build, _ := debug.ReadBuildInfo()
	return slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// packagedFile is the environmentFile of the binary under test.
const packagedFile = "packaged.env"

// sharedKey is the file of the installation's key of all servers on a database that a test has made, whose data folders differ.
var sharedKey string

func makeSharedKey() error {
	folder, err := os.MkdirTemp("", "stoa-key-")
	if err != nil {
		return err
	}
	sharedKey = filepath.Join(folder, secretKeyFile)
	return makeSecret(sharedKey, base64.StdEncoding)
}

// noLimits switches every limit off.
var noLimits = []string{
	"STOA_LIMIT_MUTATIONS_PER_MINUTE=0", "STOA_LIMIT_CONTACT_REQUESTS_PER_MINUTE=0", "STOA_LIMIT_MESSAGES_PER_MINUTE=0",
	"STOA_LIMIT_REGISTRATIONS_PER_ADDRESS_PER_HOUR=0", "STOA_LIMIT_REGISTRATIONS_PER_HOUR=0",
	"STOA_LIMIT_REQUESTS_PER_ADDRESS_PER_SECOND=0", "STOA_LIMIT_TEXT_BYTES=0", "STOA_LIMIT_TEXT_BYTES_PER_DAY=0",
}

// The command gets the URL of a superuser, its exit code is returned, and the cluster is deleted.
func TestTestCluster(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	temporary := "TMPDIR=" + t.TempDir()
	code, out, stderr := runProgram(t, []string{"test-cluster", "--", "sh", "-c", "echo $STOA_TEST_DATABASE_URL; exit 7"}, temporary)
	require.Equal(t, 7, code, stderr)
	require.True(t, strings.HasPrefix(out, "postgres://stoa@/stoa?host="), out)
	require.Empty(t, graphtest.Got(os.ReadDir(strings.TrimPrefix(temporary, "TMPDIR=")))(t))

	require.Contains(t, complaint(t, []string{"test-cluster", "--", "no-such-program"}, temporary), "no-such-program")
}

// newTerminal opens a terminal: text written to master is typed on it.
func newTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master = graphtest.Got(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { _ = master.Close() })
	fd := int(master.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number := graphtest.Got(unix.IoctlGetUint32(fd, unix.TIOCGPTN))(t)
	terminal = graphtest.Got(os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { _ = terminal.Close() })
	return master, terminal
}

// Within a second no progress is shown; afterwards a terminal has a line, and a log a line every ten seconds.
func TestProgressIsShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terminal bool
		takes    time.Duration
		total    int64
		lines    int
		shows    string
	}{
		"short on a terminal": {true, 900 * time.Millisecond, 9, 0, ""},
		"short in a log":      {false, 9 * time.Second, 9, 0, ""},
		"long on a terminal":  {true, 3 * time.Second, 9, 0, "seeding"},
		"long in a log":       {false, 31 * time.Second, 9, 3, "seeding: 30 s, 7000000 of 9"},
		"bytes":               {false, 31 * time.Second, 0, 3, "seeding: 30 s, 7 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var to bytes.Buffer
				add, end := showProgress(&to, c.terminal, "seeding", c.total)
				add(7_000_000)
				time.Sleep(c.takes)
				end()
				require.Equal(t, c.lines, strings.Count(to.String(), "\n"), to.String())
				require.Contains(t, to.String(), c.shows)
				if c.shows == "" {
					require.Empty(t, strings.Trim(to.String(), "\r\x1b[2K "))
				}
			})
		})
	}
}
