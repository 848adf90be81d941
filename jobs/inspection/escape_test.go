package inspection

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// targets are the things that hostile code tries to reach. It gets them as the file to inspect.
type targets struct {
	// Parent is the server's process, Secret the address of Token in its memory.
	Parent int     `json:"parent"`
	Secret uintptr `json:"secret"`
	// Token is the text of TokenFile, which only the server's user may read.
	Token     string `json:"token"`
	TokenFile string `json:"token_file"`
	// Socket, Abstract and Port are the server's listeners: a path, an abstract name, a port of 127.0.0.1.
	Socket   string `json:"socket"`
	Abstract string `json:"abstract"`
	Port     int    `json:"port"`
	// Outside is a folder that the server's user may write into.
	Outside string `json:"outside"`
}

// escapes are the ways out of the sandbox. Each reports whether it is open.
var escapes = map[string]func(targets) bool{
	"environ": func(t targets) bool { return holds(fmt.Sprintf("/proc/%d/environ", t.Parent), t.Token) },
	"memory":  readsMemory,
	"token": func(t targets) bool {
		return holds(t.TokenFile, t.Token) || holds("/proc/1/root"+t.TokenFile, t.Token) ||
			holds(fmt.Sprintf("/proc/%d/root%s", t.Parent, t.TokenFile), t.Token)
	},
	"shadow":   func(targets) bool { return holds("/etc/shadow", "") || holds("/proc/1/root/etc/shadow", "") },
	"passwd":   func(targets) bool { return holds("/etc/passwd", "root") },
	"socket":   func(t targets) bool { return connects(&unix.SockaddrUnix{Name: t.Socket}, unix.AF_UNIX) },
	"abstract": func(t targets) bool { return connects(&unix.SockaddrUnix{Name: t.Abstract}, unix.AF_UNIX) },
	"tcp": func(t targets) bool {
		return connects(&unix.SockaddrInet4{Port: t.Port, Addr: [4]byte{127, 0, 0, 1}}, unix.AF_INET)
	},
	"exec":    executes,
	"ptrace":  func(t targets) bool { return unix.PtraceSeize(t.Parent) == nil },
	"kill":    func(t targets) bool { return unix.Kill(t.Parent, 0) == nil },
	"outside": writesOutside,
	"fork":    forks,
	"root":    func(targets) bool { return unix.Setuid(0) == nil && os.Getenv("WITHOUT") != everything },
	"links": func(t targets) bool {
		return os.Symlink("/etc/passwd", filepath.Join(t.Outside, "link")) == nil || unix.Mkfifo(filepath.Join(t.Outside, "pipe"), 0o600) == nil
	},
	"descriptors": func(t targets) bool {
		for fd := unix.Stderr + 1; fd < maxOpen; fd++ {
			content := make([]byte, len(t.Token))
			if n, _ := unix.Pread(fd, content, 0); n > 0 {
				return true
			}
		}
		return false
	},
	"calls": func(targets) bool {
		for _, number := range forbidden {
			if _, _, failed := unix.RawSyscall6(number, ^uintptr(0), 0, 0, 0, 0, 0); failed != unix.EPERM {
				return true
			}
		}
		var ring [120]byte
		_, _, failed := unix.RawSyscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&ring)), 0)
		return failed != unix.EPERM
	},
}

// forbidden are calls that no decoder needs. With these arguments none has an effect if it is allowed.
var forbidden = []uintptr{
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_SOCKETPAIR, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV,
	unix.SYS_PROCESS_VM_WRITEV, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_BPF, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_IO_URING_ENTER,
	unix.SYS_IO_URING_REGISTER, unix.SYS_USERFAULTFD, unix.SYS_PERF_EVENT_OPEN, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD,
	unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_MEMFD_CREATE, unix.SYS_FANOTIFY_INIT,
	unix.SYS_INOTIFY_INIT1, unix.SYS_SETUID, unix.SYS_SETRESUID, unix.SYS_CAPSET, unix.SYS_SHMGET, unix.SYS_MQ_OPEN, unix.SYS_SECCOMP,
}

// holds reports whether a file can be read and contains a text.
func holds(path, text string) bool {
	content, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(content), text)
}

func readsMemory(t targets) bool {
	content := make([]byte, len(t.Token))
	if mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", t.Parent)); err == nil {
		n, _ := mem.ReadAt(content, int64(t.Secret))
		_ = mem.Close()
		if n == len(content) && string(content) == t.Token {
			return true
		}
	}
	local := []unix.Iovec{{Base: &content[0], Len: uint64(len(content))}}
	n, err := unix.ProcessVMReadv(t.Parent, local, []unix.RemoteIovec{{Base: t.Secret, Len: len(content)}}, 0)
	return err == nil && string(content[:n]) == t.Token
}

func connects(to unix.Sockaddr, family int) bool {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Connect(fd, to) == nil
}

func executes(targets) bool {
	for _, path := range []string{"/bin/sh", "/usr/bin/sh", "/usr/lib/ld-linux.so.2", "/lib64/ld-linux-x86-64.so.2", self} {
		if exec.Command(path, "-c", "exit 0", "--version").Start() == nil {
			return true
		}
	}
	return false
}

func writesOutside(t targets) bool {
	for _, folder := range []string{t.Outside, filepath.Dir(t.TokenFile), "..", "/", "/tmp", "/var/tmp", "/dev/shm", "/usr/share"} {
		if os.WriteFile(filepath.Join(folder, "intruder"), nil, 0o600) == nil {
			_ = os.Remove(filepath.Join(folder, "intruder"))
			return true
		}
	}
	return false
}

// forks reports whether more processes can be made than a bound allows. All calls are raw: if the bound holds, the Go runtime
// cannot start a thread in between.
func forks(targets) bool {
	var pids [2 * maxThreads]uintptr
	made := 0
	for ; made < len(pids); made++ {
		pid, _, failed := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if failed != 0 {
			break
		}
		if pid == 0 {
			for { // until it is killed
				_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
		}
		pids[made] = pid
	}
	for _, pid := range pids[:made] {
		_, _, _ = unix.RawSyscall(unix.SYS_KILL, pid, uintptr(unix.SIGKILL), 0)
		_, _, _ = unix.RawSyscall6(unix.SYS_WAIT4, pid, 0, 0, 0, 0, 0) // it counts until then
	}
	return made == len(pids)
}

// breakOut tries every escape and reports those that are open.
func breakOut(file []byte) (Report, error) {
	var to targets
	if err := json.Unmarshal(file, &to); err != nil {
		return Report{}, err
	}
	var open []string
	for _, name := range slices.Sorted(maps.Keys(escapes)) {
		if escapes[name](to) {
			open = append(open, name)
		}
	}
	return Report{Reason: "open: " + strings.Join(open, " ")}, nil
}
