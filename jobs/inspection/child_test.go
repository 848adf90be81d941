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

	"stoa/graph/graphtest"
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
	"flood": func() {
		for range 1000 {
			fmt.Fprint(os.Stderr, strings.Repeat("x", mebibyte/4))
			fmt.Print(strings.Repeat("x", mebibyte/4))
		}
	},
	"abort": func() { strike(syscall.SIGABRT) },
	"fail":  func() { os.Exit(exitUnable) },
	"confess": func() {
		var held []string
		for resource, most := range resourceLimits {
			var is unix.Rlimit
			_ = unix.Getrlimit(resource, &is)
			held = append(held, fmt.Sprint(is.Cur == most && is.Max == most))
		}
		_, secret := os.ReadFile("/etc/shadow")
		_, above := os.ReadDir("..")
		session, _ := unix.Getsid(0)
		fmt.Printf(`{"reason":"limits %v, root %v, leader %v, environment %d, reads shadow %v, reads above %v"}`,
			!strings.Contains(strings.Join(held, " "), "false"), os.Getuid() == 0 || os.Getgid() == 0,
			session == os.Getpid(), len(os.Environ()), secret == nil, above == nil)
	},
}

// strike sends a signal to this process, which ends it; another thread may receive it, a moment later.
func strike(with syscall.Signal) {
	_ = syscall.Kill(os.Getpid(), with)
	time.Sleep(wallTime)
}

// attackOr inspects a file, or runs the attack that the purpose names.
func attackOr(with Renderer, file []byte, asked request) (Report, error) {
	if attack := attacks[string(asked.Purpose)]; attack != nil {
		attack()
		os.Exit(0)
	}
	if asked.Purpose == hostile {
		return breakOut(file)
	}
	return inspection{with}.file(file, asked)
}

// endings are the endings of the attacks that do not end as Completed.
var endings = map[string]Ending{"spin": Limited, "hang": Crashed, "starve": Crashed, "hoard": Limited, "crash": Crashed, "abort": Crashed}

// TestAttacks: whatever a child does, the parent refuses the file within its time.
func TestAttacks(t *testing.T) {
	t.Parallel()
	for name := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "hang" && testing.Short() {
				t.Skip("runs every night; starve ends in the same way")
			}
			before := time.Now()
			var once Inspector
			if name == "hang" || name == "starve" {
				once.wall = slack.Of(2 * min(instrumented, 3) * time.Second) // it must have begun by then
			}
			report, state, err := once.run(t.Context(), Request{Original: file(t, []byte("x")), Purpose: Purpose(name)})
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
		})
	}
}

// TestStoppedChild: the parent waits for a child that gets no processor time for a while.
func TestStoppedChild(t *testing.T) {
	t.Parallel()
	p := graphtest.Got(start())(t)
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
}

// TestReportsOfTheChildAreChecked: an answer counts only if it could be one of ours, with the files that its purpose makes.
func TestReportsOfTheChildAreChecked(t *testing.T) {
	t.Parallel()
	preview, copied := string(jpegMagic)+"preview", string(pngMagic)+"copy"
	const accepted = `{"accepted":true,"media_type":"image/png","width":9,"height":9,"preview_size":10,"published_size":12}` + "\n"
	report := readReport([]byte(accepted+preview+copied), Avatar)
	require.Equal(t, Report{Accepted: true, MediaType: PNG, Width: 9, Height: 9, Preview: []byte(preview), Published: []byte(copied)}, report)
	for name, answer := range map[string]string{
		"nothing":            "",
		"no files":           `{"accepted":true,"media_type":"image/png","width":9,"height":9}` + "\n",
		"no copy":            strings.Replace(accepted, "12}", "0}", 1) + preview,
		"no preview":         strings.Replace(accepted, "10,", "0,", 1) + copied,
		"too few bytes":      accepted + preview,
		"too many bytes":     accepted + preview + copied + "x",
		"another size":       strings.Replace(accepted, "10,", "11,", 1) + preview + copied,
		"a size below 0":     strings.Replace(strings.Replace(accepted, "10,", "-1,", 1), "12}", "23}", 1) + preview + copied,
		"too large":          fmt.Sprintf(strings.Replace(accepted, "10,", "%d,", 1), maxWritten+1) + preview + strings.Repeat("x", maxWritten-9) + copied,
		"another format":     accepted + "<script>!!" + copied,
		"a copy of another":  accepted + preview + string(jpegMagic) + "123456789",
		"too many pixels":    strings.Replace(accepted, `"width":9`, `"width":1000000000`, 1) + preview + copied,
		"pages of a picture": strings.Replace(accepted, `"width":9`, `"width":9,"pages":1`, 1) + preview + copied,
		"an unknown type":    strings.Replace(accepted, "image/png", "text/html", 1) + preview + copied,
		"a PDF":              strings.Replace(accepted, "image/png", "application/pdf", 1) + preview + copied,
		"markup":             `{"reason":"<b>ask\u0000me</b>","media_type":""}`,
		"an invented type":   `{"reason":"a","media_type":"text/html"}`,
		"no reason":          `{"media_type":"image/png"}`,
	} {
		report := readReport([]byte(answer), Avatar)
		report.MediaType = ""
		require.Equal(t, Report{Reason: refusedLimits.Error()}, report, name)
	}
	require.False(t, readReport([]byte(accepted+preview+copied), Order).Accepted, "files of orders have no copy")
}

// TestFailuresThatAreNotTheFiles: a failure that is not the file's fault is an error.
func TestFailuresThatAreNotTheFiles(t *testing.T) {
	t.Parallel()
	good, closed := file(t, jpegOf(t, plain(8, 8, red))), file(t, nil)
	require.NoError(t, closed.Close())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, row := range map[string]struct {
		ctx      context.Context
		original *os.File
		want     error
	}{
		"closed original": {t.Context(), closed, os.ErrClosed},
		"cancelled":       {ended, good, context.Canceled},
		"a folder":        {t.Context(), open(t, t.TempDir()), syscall.EISDIR},
	} {
		_, err := new(Inspector).Inspect(row.ctx, Request{Original: row.original, Purpose: Avatar})
		require.ErrorIs(t, err, row.want, name)
	}
}

// TestUnreachable: the original need not be reachable for the user that the child becomes.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	private := filepath.Join(t.TempDir(), "private")
	require.NoError(t, os.Mkdir(private, 0o700))
	path := filepath.Join(private, "original")
	require.NoError(t, os.WriteFile(path, jpegOf(t, plain(8, 8, red)), 0o400))
	report := graphtest.Got(new(Inspector).Inspect(t.Context(), Request{Original: open(t, path), Purpose: Avatar}))(t)
	require.True(t, report.Accepted, report.Reason)
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
	path := graphtest.Got(openProgram(filepath.Join(folder, "stoa")))(t)
	require.NoError(t, os.Remove(filepath.Join(folder, Program)))
	for range 3 {
		runtime.GC()
	}
	require.Equal(t, "program", string(graphtest.Got(os.ReadFile(path))(t)))
}
