package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrListening says that another program listens as this agent already. Its events would be divided between both, since an
// acknowledgement counts for all.
var ErrListening = errors.New("another program listens already")

// socketName is how long the name of an abstract socket is.
const socketName = 108

// ErrListensElsewhere says that the server knows another connection of this agent, which may be one that was just cut off.
var ErrListensElsewhere = errors.New("another program listens as this agent, perhaps with a copy of the key file on another machine: " +
	"each gets only a part of the events; stop one of them")

// listensElsewhere asks the server for other listeners. No answer is no error: the listener will see why there is none.
func (a *Agent) listensElsewhere(ctx context.Context) error {
	answer, err := a.Once(ctx, http.MethodGet, "/events?limit=1", nil)
	if err == nil && answer.Header.Get("Other-Listeners") != "" {
		return ErrListensElsewhere
	}
	return nil
}

// Listen runs a Listener with the agent's token, renewed after a rotation (Renew), and with the file of handled events named like the
// key file with .seen behind it. It ends as Listener.Run does. It returns ErrListening at once if another program on this machine
// listens with this key file or a copy of it. One on another machine is reported (ErrListensElsewhere).
func (a *Agent) Listen(ctx context.Context, l Listener) (err error) {
	release, err := a.lockListening()
	if release != nil {
		defer func() { err = errors.Join(err, release()) }()
	}
	if err != nil {
		return err
	}
	seen, err := OpenSeen(a.file + ".seen")
	if err != nil {
		return err
	}
	l.Client, l.Seen, l.Renew = a.Client, seen, a.Renew
	l.report(a.listensElsewhere(ctx))
	if l.Began != nil {
		l.Began()
	}
	return l.Run(ctx)
}

// lockListening locks the file named like the key file with .listening behind it, which it empties, and on Linux also a name among the
// abstract sockets, so that it sees copies of the key file. Both locks end with the process.
func (a *Agent) lockListening() (release func() error, err error) {
	path := a.file + ".listening"
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		err = fmt.Errorf("%w (%s)", ErrListening, path)
	} else {
		err = file.Truncate(0)
	}
	if err != nil || runtime.GOOS != "linux" {
		return file.Close, err
	}
	name := "@" + listeningName(a.Keys)
	name += strings.Repeat("\x00", socketName-len(name)) // as Node fills it
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if errors.Is(err, unix.EADDRINUSE) {
		err = fmt.Errorf("%w as %s, with a copy of %s", ErrListening, a.Identity().Handle, a.file)
	}
	if err != nil {
		return file.Close, err
	}
	return func() error { return errors.Join(socket.Close(), file.Close()) }, nil
}

// listeningName is the name of the abstract socket of a listener. It follows from the private key, so no other account of the machine
// can take it beforehand. The client in TypeScript has the same.
func listeningName(keys Keys) string {
	sum := sha256.Sum256([]byte("stoa listening\n" + keys.Private()))
	return "stoa-listening-" + hex.EncodeToString(sum[:])
}
