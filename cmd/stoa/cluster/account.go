package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account runs the PostgreSQL programs and owns the cluster's folder.
type account struct {
	uid, gid uint32
	other    bool // not the account of this process, which then is root
}

// unprivileged are the accounts root looks for when neither folder names one.
var unprivileged = []string{"postgres", "nobody"}

// chooseAccount keeps the owner of an existing cluster. For a new one root takes
// the owner of the data folder, unless that is root itself or an account
// without a name (initdb insists on one), and else an unprivileged account.
func chooseAccount(data, folder string) (account, error) {
	own := uint32(os.Geteuid())
	owner, err := ownerOf(folder)
	switch exists := err == nil; {
	case !exists && !errors.Is(err, fs.ErrNotExist):
		return account{}, err
	case own != 0 && exists && owner.uid != own:
		return account{}, fmt.Errorf("%s belongs to uid %d: start the server as that account or as root", folder, owner.uid)
	case own != 0:
		return account{uid: own, gid: uint32(os.Getegid())}, nil
	case exists && owner.uid == 0:
		return account{}, fmt.Errorf("%s belongs to root, which PostgreSQL refuses to run as: give it to an unprivileged account (chown -R)", folder)
	case exists:
		return owner, nil
	}
	if owner, err = ownerOf(data); err != nil {
		return account{}, err
	}
	if _, err := user.LookupId(strconv.FormatUint(uint64(owner.uid), 10)); err == nil && owner.uid != 0 {
		return owner, nil
	}
	for _, name := range unprivileged {
		if found, err := user.Lookup(name); err == nil {
			return parseAccount(found)
		}
	}
	return account{}, fmt.Errorf("started as root, but there is no account to run PostgreSQL as: create one of %q", unprivileged)
}

func ownerOf(path string) (account, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return account{}, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() {
		return account{}, fmt.Errorf("%s is not a folder", path)
	}
	return account{uid: stat.Uid, gid: stat.Gid, other: true}, nil
}

func parseAccount(found *user.User) (account, error) {
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("uid of %s: %w", found.Username, err)
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("gid of %s: %w", found.Username, err)
	}
	return account{uid: uint32(uid), gid: uint32(gid), other: true}, nil
}

// credential returns the user that a child must become, or nil to keep the present one. Its supplementary groups are dropped.
func (a account) credential() *syscall.Credential {
	if !a.other {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// adopt gives a file that this process made to the account, so that a server
// started as that account later can use it too.
func (a account) chown(f *os.File) error {
	if !a.other {
		return nil
	}
	return f.Chown(int(a.uid), int(a.gid))
}
