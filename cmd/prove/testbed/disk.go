package testbed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Disk is its own file system, in memory, so that it can be full or read-only. Only root can make one; for others it is just the
// folder, and has no faults.
type Disk struct {
	folder  string
	mounted bool
}

// newDisk makes the folder and, if this process is root, mounts a file system of size bytes there.
func newDisk(folder string, size int64) (*Disk, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	d := &Disk{folder: folder}
	if os.Geteuid() != 0 {
		return d, nil
	}
	err := unix.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size))
	if errors.Is(err, unix.EPERM) { // in a container
		return d, nil
	}
	d.mounted = err == nil
	return d, err
}

// ballast is the file that takes all free space.
const ballast = "ballast"

var errNoDisk = errors.New("this fault needs the right to mount file systems")

// Fill leaves no space on the disk.
func (d *Disk) Fill() error {
	if !d.mounted {
		return errNoDisk
	}
	file, err := os.OpenFile(filepath.Join(d.folder, ballast), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for zeros := make([]byte, 1<<20); err == nil; {
		_, err = file.Write(zeros)
	}
	if errors.Is(err, unix.ENOSPC) {
		err = nil
	}
	return errors.Join(err, file.Close())
}

// Empty undoes Fill.
func (d *Disk) Empty() error {
	if err := os.Remove(filepath.Join(d.folder, ballast)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

const (
	// remountTimeout is how long the kernel may refuse to remount a disk because a file is open for writing; remountPause is the
	// time between two tries.
	remountTimeout = 15 * time.Second
	remountPause   = 20 * time.Millisecond
)

// ReadOnly makes the disk refuse writes, or accept them again. The kernel does not make it read-only while a file is written.
func (d *Disk) ReadOnly(on bool) error {
	if !d.mounted {
		return errNoDisk
	}
	flags := uintptr(unix.MS_REMOUNT)
	if on {
		flags |= unix.MS_RDONLY
	}
	for until := time.Now().Add(remountTimeout); ; time.Sleep(remountPause) {
		if err := unix.Mount("", d.folder, "", flags, ""); !errors.Is(err, unix.EBUSY) || time.Now().After(until) {
			return err
		}
	}
}

func (d *Disk) close() error {
	if !d.mounted {
		return nil
	}
	return unix.Unmount(d.folder, unix.MNT_DETACH)
}
