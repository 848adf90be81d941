package testbed

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Disk is its own file system, in memory, so that it can be full or read-only. Only root can make one; for others it is the
// folder itself, and has no faults.
type Disk struct {
	folder  string
	mounted bool
	// lossy lies over it, at the folder that others use, so that it can lose power. If it is nil, unlossy is the reason.
	lossy   *forgetful
	unlossy error
}

// newLossyDisk makes a disk that can lose power and shows it at the folder, unless file systems in user space cannot be mounted.
func newLossyDisk(folder string, size int64) (*Disk, error) {
	if size == 0 || os.Geteuid() != 0 {
		d, err := newDisk(folder, size)
		if d != nil {
			d.unlossy = errNoDisk
		}
		return d, err
	}
	below := folder + ".disk"
	d, err := newDisk(below, size)
	if err != nil {
		return d, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return d, err
	}
	if d.lossy, d.unlossy = mountForgetful(folder, below); d.unlossy == nil {
		return d, nil
	}
	d.lossy = nil
	plain, err := newDisk(folder, size)
	if plain != nil {
		plain.unlossy = d.unlossy
	}
	return plain, errors.Join(err, d.close())
}

// LosePower loses what programs wrote and did not sync. No program may have a file open.
func (d *Disk) LosePower() error {
	if d.lossy == nil {
		return fmt.Errorf("losing power: %w", d.unlossy)
	}
	return d.lossy.lose()
}

// newDisk makes the folder and, where this process is root, mounts a file system of that many bytes there, or none for 0.
func newDisk(folder string, size int64) (*Disk, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	d := &Disk{folder: folder}
	if size == 0 || os.Geteuid() != 0 {
		return d, nil
	}
	err := unix.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size))
	if errors.Is(err, unix.EPERM) { // in a container
		return d, nil
	}
	d.mounted = err == nil
	return d, err
}

var errNoDisk = errors.New("this fault needs the right to mount file systems")

func (d *Disk) ballast() string { return filepath.Join(d.folder, "ballast") }

// Fill leaves no space on the disk.
func (d *Disk) Fill() error {
	if !d.mounted {
		return errNoDisk
	}
	file, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, zeros{})
	if errors.Is(err, unix.ENOSPC) {
		err = nil
	}
	return errors.Join(err, file.Close())
}

// Empty undoes Fill.
func (d *Disk) Empty() error {
	if err := os.Remove(d.ballast()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

const (
	// remountTimeout is how long the kernel may refuse to remount a disk, because a file is open for writing, remountPause what lies
	// between two tries.
	remountTimeout = 15 * time.Second
	remountPause   = 20 * time.Millisecond
)

// ReadOnly makes the disk refuse writes, or accept them again. While a file is being written the kernel refuses the first.
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

// unmountTimeout is how long close waits for the file system that forgets to end. A program that was started in a mount namespace of
// its own meanwhile may hold a copy of it; then it ends with this process.
const unmountTimeout = 10 * time.Second

func (d *Disk) close() error {
	if d.lossy != nil {
		ended := make(chan error, 1)
		go func() { ended <- d.lossy.server.Unmount() }()
		select {
		case err := <-ended:
			if err != nil {
				return err
			}
		case <-time.After(unmountTimeout):
		}
	}
	if !d.mounted {
		return nil
	}
	return unix.Unmount(d.folder, unix.MNT_DETACH)
}

// zeros is an endless file.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
