package cluster

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// chooseAccount returns the account that runs the PostgreSQL programs and owns the cluster's folder, or nil for this process's
// account. Root takes the owner of an existing cluster. For a new one it takes the owner of the data folder. If that owner is
// root or has no name, which initdb needs, it takes the account postgres or nobody.
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
		if owner, err = ownerOf(data); err == nil && (owner.Uid == 0 || !hasName(owner.Uid)) {
			return unprivileged()
		}
	}
	if err == nil && owner.Uid == 0 {
		err = fmt.Errorf("%s belongs to root, which PostgreSQL refuses to run as: give it to an unprivileged account (chown -R)", folder)
	}
	return owner, err
}

func hasName(uid uint32) bool {
	_, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	return err == nil
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

// openLog refuses a symbolic link: root may be writing into another's folder.
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

// Write never fails: what a full disk does not take is lost, and the database's output goes on.
func (l *logFile) Write(p []byte) (int, error) {
	if l.size > logLimit {
		_ = errors.Join(l.file.Close(), os.Rename(l.path, l.path+".1"), l.open()) // the next part tries again
	}
	n, _ := l.file.Write(p)
	l.size += int64(n)
	return len(p), nil
}
