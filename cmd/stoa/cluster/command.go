package cluster

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// folderInChild is the cluster's folder as a child sees it: the descriptor it was
// given. The path works where the account may not traverse the folders above,
// and postgres does not care how long it is.
const folderInChild = "/proc/self/fd/3"

// inherited are the variables that PostgreSQL programs may see. The rest stays
// here: secrets, and PG* settings that would bend the cluster.
var inherited = []string{"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "NSS_WRAPPER_PASSWD", "NSS_WRAPPER_GROUP"}

// command prepares a program that works on the folder, as the account, in its own session: a terminal's ^C does not reach it, and
// its process group can be ended as one. It gets no descriptor but the folder's. The working directory is the root, since initdb
// wants to return to where it started.
//
// The program that started the server may have left descriptors open in it. A database that outlives the server must not hold on
// to them, so they are closed on exec.
func (c *Cluster) command(ctx context.Context, folder *os.File, program string, args ...string) *exec.Cmd {
	closeAllOnExec()
	cmd := exec.CommandContext(ctx, filepath.Join(c.programs.dir, program), args...)
	cmd.Dir = "/"
	cmd.Env = []string{"LANG=C", "TZ=UTC"}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.ExtraFiles = []*os.File{folder}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: c.account.credential()}
	return cmd
}

// closeAllOnExec marks every descriptor of this process to be closed on exec. Descriptors for a child are copied, so the child
// keeps them.
func closeAllOnExec() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > unix.Stderr {
			unix.CloseOnExec(fd)
		}
	}
}

// runToEnd runs a program to its end, together with whatever it started. An error
// holds the last lines that the program printed.
func runToEnd(ctx context.Context, cmd *exec.Cmd) error {
	var out Output
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return out.Explain(filepath.Base(cmd.Path), err)
	}
}
