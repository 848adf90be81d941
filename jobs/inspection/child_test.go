package inspection

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stoa/graph/platform/slack"
)

// attacks are actions of a child that a file has taken over. Each replaces an inspection, in a child that is confined as usual,
// and is started by its name in place of a purpose.
var attacks = map[string]func(){
	"spin": func() { // as if the limit, which confess looks at, were two seconds
		_ = unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: 2, Max: 2})
		for n := 0; n >= 0; n++ {
			continue
		}
	},
	"hang": func() { select {} },
	"starve": func() { // as if it had got less than spentTime when its time on the clock was over
		for used := new(unix.Rusage); time.Duration(used.Utime.Nano()+used.Stime.Nano()) < 750*time.Millisecond; {
			_ = unix.Getrusage(unix.RUSAGE_SELF, used)
		}
		select {}
	},
	"hoard": func() {
		var held [][]byte
		for {
			held = append(held, bytes.Repeat([]byte{1}, mebibyte)) //nolint:staticcheck // it is held, not used
		}
	},
	"crash": func() { strike(syscall.SIGSEGV) },
	"fill": func() {
		_ = os.WriteFile(previewName, make([]byte, maxWritten+1), 0o600)
		fmt.Print(`{"accepted":true,"media_type":"image/png","width":1,"height":1}`)
	},
	"flood": func() {
		for range 1000 {
			fmt.Fprint(os.Stderr, strings.Repeat("x", mebibyte/4))
			fmt.Print(strings.Repeat("x", mebibyte/4))
		}
	},
	"boast": func() { fmt.Print(`{"accepted":true,"media_type":"image/png","width":1,"height":1}`) },
	"exaggerate": func() {
		_ = os.WriteFile(previewName, jpegMagic, 0o600)
		fmt.Print(`{"accepted":true,"media_type":"image/png","width":1000000,"height":1000000}`)
	},
	"link": func() {
		_ = os.Symlink("/etc/passwd", previewName)
		fmt.Print(`{"accepted":true,"media_type":"image/png","width":1,"height":1}`)
	},
	"pipe": func() {
		_ = unix.Mkfifo(previewName, 0o600)
		fmt.Print(`{"accepted":true,"media_type":"image/png","width":1,"height":1}`)
	},
	"script": func() {
		_ = os.WriteFile(previewName, []byte("<script>"), 0o600)
		fmt.Print(`{"accepted":true,"media_type":"image/png","width":1,"height":1}`)
	},
	"speak":  func() { fmt.Print(`{"reason":"<b>ask\u0000me</b>","media_type":""}`) },
	"invent": func() { fmt.Print(`{"reason":"a","media_type":"text/html"}`) },
	"litter": func() {
		for i := range 100 {
			_ = os.MkdirAll(fmt.Sprintf("a/b/c/%d", i), 0o700)
		}
	},
	"abort": func() { strike(syscall.SIGABRT) },
	"fail":  func() { os.Exit(exitUnable) },
	"confess": func() {
		var held []string
		for _, limit := range resourceLimits {
			var is unix.Rlimit
			_ = unix.Getrlimit(limit.resource, &is)
			held = append(held, fmt.Sprint(is.Cur == limit.most && is.Max == limit.most))
		}
		_, secret := os.ReadFile("/etc/shadow")
		_, above := os.ReadDir("..")
		session, _ := unix.Getsid(0)
		fmt.Printf(`{"reason":"limits %v, root %v, leader %v, environment %d, reads shadow %v, reads above %v"}`,
			!strings.Contains(strings.Join(held, " "), "false"), os.Getuid() == 0 || os.Getgid() == 0,
			session == os.Getpid(), len(os.Environ()), secret == nil, above == nil)
	},
}

// strike sends a signal to this process, which ends by it; another thread may be the one that gets it, a moment later.
func strike(with syscall.Signal) {
	_ = syscall.Kill(os.Getpid(), with)
	time.Sleep(wallTime)
}

// attackOr inspects a file, but a purpose that names an attack runs it.
func attackOr(with Renderer, file []byte, asked request) (response, error) {
	if attack := attacks[string(asked.Purpose)]; attack != nil {
		attack()
		os.Exit(0)
	}
	if asked.Purpose == hostile {
		return breakOut(file)
	}
	return inspection{with}.file(file, asked)
}

// endings are how the attacks end that do not end as Completed.
var endings = map[string]Ending{"spin": Limited, "hang": Crashed, "starve": Crashed, "hoard": Limited, "crash": Crashed, "abort": Crashed}

// TestAttacks: whatever a child does, the parent refuses the file within its time, believes nothing, follows nothing, and
// leaves nothing behind.
func TestAttacks(t *testing.T) {
	t.Parallel()
	for name := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scratch := t.TempDir()
			if name == "hang" && testing.Short() {
				t.Skip("runs every night; starve ends in the same way")
			}
			before := time.Now()
			var once Inspector
			if name == "hang" || name == "starve" {
				once.wall = slack.Of(time.Second)
			}
			report, state, err := once.run(t.Context(), Request{Original: file(t, []byte("x")), Purpose: Purpose(name), Scratch: scratch})
			require.Less(t, time.Since(before), wallTime+slack.TestWait)
			within(t, state)
			if name == "fail" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.False(t, report.Accepted)
			require.Empty(t, report.Preview)
			require.Equal(t, endings[name], report.Ending)
			if name == "confess" {
				require.Equal(t, fmt.Sprintf("limits true, root false, leader true, environment %d, reads shadow false, reads above false",
					len(environment)), report.Reason)
			} else {
				require.Equal(t, string(refusedLimits), report.Reason)
			}
			require.NoDirExists(t, report.folder.work())
			require.NoError(t, report.Remove())
			left, err := os.ReadDir(scratch)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// TestStopped: a child that gets nothing of the processor for a while is waited for.
func TestStopped(t *testing.T) {
	t.Parallel()
	p, err := start("")
	require.NoError(t, err)
	_, err = p.measures(t.Context())
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(p.cmd.Process.Pid, syscall.SIGSTOP))
	type result struct {
		report Report
		err    error
	}
	done := make(chan result, 1)
	original := file(t, jpegOf(t, plain(8, 8, red)))
	go func() {
		report, err := p.inspect(t.Context(), Request{Original: original, Purpose: Avatar})
		done <- result{report, err}
	}()
	require.Eventually(t, func() bool { // all is sent
		at, err := original.Seek(0, 1)
		return err == nil && at > 0
	}, slack.TestWait, time.Millisecond)
	require.Empty(t, done)
	require.NoError(t, syscall.Kill(p.cmd.Process.Pid, syscall.SIGCONT))
	r := <-done
	require.NoError(t, r.err)
	require.True(t, r.report.Accepted, r.report.Reason)
	require.NoError(t, r.report.Remove())
}

// TestUnable: what is not the file's fault is an error, and leaves nothing behind.
func TestUnable(t *testing.T) {
	t.Parallel()
	scratch := t.TempDir()
	good, closed := file(t, jpegOf(t, plain(8, 8, red))), file(t, nil)
	require.NoError(t, closed.Close())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, row := range map[string]struct {
		ctx     context.Context
		request Request
		want    error
	}{
		"closed original": {t.Context(), Request{Original: closed, Purpose: Avatar, Scratch: scratch}, nil},
		"no scratch":      {t.Context(), Request{Original: good, Purpose: Avatar, Scratch: scratch + "x"}, os.ErrNotExist},
		"cancelled":       {ended, Request{Original: good, Purpose: Avatar, Scratch: scratch}, context.Canceled},
		"a folder":        {t.Context(), Request{Original: open(t, scratch), Purpose: Avatar, Scratch: scratch}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := new(Inspector).Inspect(row.ctx, row.request)
			require.Error(t, err)
			if row.want != nil {
				require.ErrorIs(t, err, row.want)
			}
			left, err := os.ReadDir(scratch)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// TestUnreachable: neither the original nor the scratch folder need be reachable for the user the child becomes.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	private := filepath.Join(t.TempDir(), "private")
	require.NoError(t, os.Mkdir(private, 0o700))
	path := filepath.Join(private, "original")
	require.NoError(t, os.WriteFile(path, jpegOf(t, plain(8, 8, red)), 0o400))
	report, err := new(Inspector).Inspect(t.Context(), Request{Original: open(t, path), Purpose: Avatar, Scratch: private})
	require.NoError(t, err)
	require.True(t, report.Accepted, report.Reason)
	info, err := os.Stat(report.Preview)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, report.Remove())
}

// TestProgramStaysOpen: the child's program is found beside this one and can be started later, even if its file was replaced or
// deleted.
func TestProgramStaysOpen(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, err := openProgram(filepath.Join(folder, "stoa"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "stoa-inspect, the program that inspects files, must lie beside stoa")
	require.NoError(t, os.WriteFile(filepath.Join(folder, Program), []byte("program"), 0o600))
	path, err := openProgram(filepath.Join(folder, "stoa"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(folder, Program)))
	for range 3 {
		runtime.GC()
	}
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "program", string(content))
}
