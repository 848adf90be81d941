package inspection

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/uuid"
	"github.com/landlock-lsm/go-landlock/landlock"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Variables that make the test binary a server that inspects one hostile file, and leave measures out of it and of its child.
const (
	serverFolder = "STOA_DOORS_FOLDER"
	without      = "WITHOUT"
	everything   = "everything"
	// landlock61 leaves the child only the Landlock of Linux 6.1.
	landlock61 = "landlock since 6.1"
)

// hostile is the purpose under which the child runs breakOut.
const hostile Purpose = "break out"

// outcome is the output of such a server.
type outcome struct {
	Reason   string    `json:"reason"`
	Measures []Measure `json:"measures"`
}

// serveHostile is that server: it has secrets and listens, all for its own user only, and reports the child's reach.
func serveHostile(folder string) error {
	to := targets{
		Parent: os.Getpid(), Token: os.Getenv("SECRET"), TokenFile: filepath.Join(folder, "operator.token"),
		Socket: filepath.Join(folder, "socket"), Abstract: "@stoa-test-" + uuid.NewString(), Outside: filepath.Join(folder, "outside"),
	}
	to.Secret = uintptr(unsafe.Pointer(unsafe.StringData(to.Token)))
	if err := os.WriteFile(to.TokenFile, []byte(to.Token), 0o600); err != nil {
		return err
	}
	if err := os.Mkdir(to.Outside, 0o700); err != nil {
		return err
	}
	for _, at := range []string{to.Socket, to.Abstract} {
		listener, err := net.Listen("unix", at)
		if err != nil {
			return err
		}
		defer listener.Close()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	to.Port = listener.Addr().(*net.TCPAddr).Port
	stray, err := os.Open(to.TokenFile)
	if err != nil {
		return err
	}
	if _, err := syscall.Dup(int(stray.Fd())); err != nil { // survives exec
		return err
	}
	inspector, err := leaveOut(os.Getenv(without))
	if err != nil {
		return err
	}
	defer inspector.Close()
	measures, err := inspector.Confinement(context.Background())
	if err != nil {
		return err
	}
	file, err := json.Marshal(to)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "original")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		return err
	}
	original, err := os.Open(path)
	if err != nil {
		return err
	}
	defer original.Close()
	report, _, err := inspector.run(context.Background(), Request{Original: original, Purpose: hostile})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(outcome{report.Reason, measures})
}

// leaveOut makes an Inspector without a measure.
func leaveOut(measure string) (*Inspector, error) {
	environment = append(environment, without+"="+measure)
	switch measure {
	case everything:
		return new(Inspector), nil
	case "server's memory":
		return NewInspector(), nil
	}
	return NewInspector(), CloseMemory()
}

// stepsWithout are the child's steps for such a server.
func stepsWithout(measure string) []step {
	if measure == everything {
		return nil
	}
	var left []step
	for _, s := range steps {
		switch {
		case measure == landlock61 && s.name == "landlock":
			left = append(left, step{s.name, restrictFilesAsLinux61, false})
		case s.name != measure:
			left = append(left, s)
		}
	}
	return left
}

func restrictFilesAsLinux61(int) (string, error) {
	return "ABI 2", landlock.V2.Restrict(landlock.PathAccess(mayRead, readable...).IgnoreIfMissing())
}

// plainUser is an ordinary user without an account.
const plainUser = 54_321

// breakOutOf starts such a server as a user.
func breakOutOf(t *testing.T, uid int, measure string) outcome {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "stoa-escapes-") //nolint:usetesting // other users must reach it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	binary, err := os.Open(self)
	require.NoError(t, err)
	defer binary.Close()
	cmd := exec.Command("/proc/self/fd/3")
	cmd.Env = []string{"SECRET=" + uuid.NewString(), serverFolder + "=" + folder, without + "=" + measure, "TMPDIR=/tmp"}
	cmd.ExtraFiles = []*os.File{binary}
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	if uid != os.Getuid() {
		require.NoError(t, os.Chown(folder, uid, uid))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := cmd.Output()
	require.NoError(t, err)
	var found outcome
	require.NoError(t, json.Unmarshal(out, &found), "%s", out)
	return found
}

// TestDoors runs hostile code in a child of a server of root and of a plain user: nothing is in its reach on Linux 6.1 and
// later, also without the measures that only add depth. Without Landlock or the filter of calls the code reaches everything
// that its account may use, and without any measure nearly everything.
func TestDoors(t *testing.T) {
	t.Parallel()
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = append(users, plainUser)
	}
	for _, uid := range users {
		files, calls := "outside passwd token", "calls fork socket"
		if uid == 0 {
			files, calls = "outside passwd", "calls" // the child has an account of its own
		}
		for measure, want := range map[string]string{
			"":                "",
			landlock61:        "",
			"landlock":        files,
			"seccomp":         calls,
			"server's memory": "",
			"resource limits": "",
		} {
			t.Run(fmt.Sprintf("%d without %s", uid, measure), func(t *testing.T) {
				t.Parallel()
				if testing.Short() && uid != os.Getuid() && measure != "" {
					t.Skip("runs every night")
				}
				found := breakOutOf(t, uid, measure)
				require.Equal(t, strings.TrimSpace("open: "+want), strings.TrimSpace(found.Reason), "%+v", found.Measures)
				for _, m := range found.Measures {
					requireMeasure(t, uid, measure, m)
				}
			})
		}
		t.Run(strconv.Itoa(uid)+" without "+everything, func(t *testing.T) {
			t.Parallel()
			found := breakOutOf(t, uid, everything)
			require.Equal(t, "open: abstract calls environ exec fork kill links memory outside passwd ptrace socket tcp token", strings.Replace(found.Reason, " shadow", "", 1))
		})
	}
}

// requireMeasure requires a measure that was not left out to hold, unless this kernel or user cannot have it.
func requireMeasure(t *testing.T, uid int, left string, m Measure) {
	t.Helper()
	if m.Holds {
		return
	}
	lacks := map[string]bool{
		"user":            uid != 0,
		"server's memory": left == "server's memory",
		"landlock":        !landlockThere(),
	}
	require.True(t, lacks[m.Name], "%+v", m)
}

func landlockThere() bool {
	_, _, failed := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1)
	return failed == 0
}
