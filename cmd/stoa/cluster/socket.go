package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/lib/pq"
	"golang.org/x/sys/unix"

	"stoa/graph/platform/db"
)

const (
	port       = "5432" // only part of the socket's name
	socketFile = ".s.PGSQL." + port
	longest    = 107 // bytes of a path that fit into a socket address
)

// socket is where clients find the database: in the cluster's folder, or, where
// that path is too long for a socket address or holds a comma (which separates
// hosts), through a symbolic link with a short name in the temporary folder.
type socket struct {
	folder string
	link   string // empty if the folder itself serves
}

func locateSocket(folder string) (socket, error) {
	if len(filepath.Join(folder, socketFile)) <= longest && !strings.Contains(folder, ",") {
		return socket{folder: folder}, nil
	}
	name, err := nameOf(folder)
	if err != nil {
		return socket{}, err
	}
	for _, temporary := range []string{os.TempDir(), "/tmp"} {
		link := filepath.Join(temporary, name)
		if len(filepath.Join(link, socketFile)) <= longest && !strings.Contains(link, ",") {
			s := socket{folder: folder, link: link}
			return s, s.ensure()
		}
	}
	return socket{}, errors.New("no temporary folder has a path short enough for a socket")
}

// ensure makes the link again where something swept it away, and replaces one
// that is neither ours nor root's or leads elsewhere.
func (s socket) ensure() error {
	if s.link == "" {
		return nil
	}
	target, err := os.Readlink(s.link)
	if err == nil && target == s.folder {
		var stat unix.Stat_t
		if err := unix.Lstat(s.link, &stat); err == nil && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid()) {
			return nil
		}
	}
	if err := os.Remove(s.link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(s.folder, s.link)
}

// remove takes the link away; the next start makes it again.
func (s socket) remove() {
	if s.link != "" {
		_ = os.Remove(s.link) // one that stays does no harm
	}
}

func (s socket) host() string {
	if s.link != "" {
		return s.link
	}
	return s.folder
}

// url is the address of the database; passfile is the file with the role's password, or empty.
func (s socket) url(passfile string) string {
	query := url.Values{"host": {s.host()}, "port": {port}, "sslmode": {"disable"}}
	if passfile != "" {
		query.Set("passfile", passfile)
	}
	return (&url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + role, RawQuery: db.EncodeParameters(query)}).String()
}

// dial connects, waiting while more clients knock than the database lets queue.
func (s socket) dial(ctx context.Context) (net.Conn, error) {
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", filepath.Join(s.host(), socketFile))
		if !errors.Is(err, syscall.EAGAIN) {
			return conn, err
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}

// listener is the process that listens on the socket, as the kernel knows it:
// the postmaster of this folder, or 0 if no process listens. An error means that the listener cannot be seen from here.
func (s socket) listener(ctx context.Context) (int, error) {
	conn, err := s.dial(ctx)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn() //nolint:forcetypeassert // dial makes no other
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	var peerErr error
	if err := raw.Control(func(fd uintptr) { peer, peerErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, err
	}
	if peerErr != nil {
		return 0, peerErr
	}
	if peer.Pid == 0 {
		return 0, fmt.Errorf("the database in %s runs in another container", s.folder)
	}
	return int(peer.Pid), nil
}

// ping logs in as the server will. A database whose every connection is taken
// counts as answering.
func (s socket) ping(ctx context.Context, passfile string) error {
	connector, err := pq.NewConnector(s.url(passfile))
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	defer pool.Close()
	err = pool.PingContext(ctx)
	const tooManyConnections = "53300"
	if refusal, ok := errors.AsType[*pq.Error](err); ok && refusal.Code == tooManyConnections {
		return nil
	}
	return err
}
