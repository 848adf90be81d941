package inspection

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// readable are the folders that decoders may read: libraries loaded late, character sets, fonts. Everything in them is public.
var readable = []string{"/usr/lib", "/usr/lib64", "/usr/share", "/usr/local/share/fonts", "/etc/fonts", "/var/cache/fontconfig"}

// links lead into them on systems whose libraries all lie under /usr.
var links = []string{"/lib", "/lib64"}

// errNoProc says that this process cannot mount its own /proc, as in a container that masks parts of it. The parent then gives up
// the namespaces that need it.
var errNoProc = errors.New("mount /proc")

// changeRoot makes the folder above the working folder this process's root: read-only, with nothing in it but the working folder,
// the readable folders and a /proc that shows this process alone, which psx needs to find its threads.
func changeRoot(c childConfig) (string, error) {
	if c.namespaces.flags&unix.CLONE_NEWNS == 0 {
		return "", errors.New("there is no mount namespace")
	}
	work, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root := filepath.Dir(work)
	unix.Umask(0o022) // the user that the child becomes must find its way
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "", fmt.Errorf("separate mounts: %w", err)
	}
	for _, folder := range []string{root, work} {
		if err := unix.Mount(folder, folder, "", unix.MS_BIND, ""); err != nil {
			return "", fmt.Errorf("mount the working folder: %w", err)
		}
	}
	for _, folder := range readable {
		if err := mountReadable(root, folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("mount %s: %w", folder, err)
		}
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil {
			if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
				return "", err
			}
		}
	}
	if err := mountProc(root); err != nil {
		return "", fmt.Errorf("%w: %w", errNoProc, err)
	}
	_ = unix.MountSetattr(unix.AT_FDCWD, root, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}) // since Linux 5.12
	return "its own, read-only", enterRoot(root, filepath.Base(work))
}

// mountReadable shows a folder in the new root.
func mountReadable(root, folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fs.ErrNotExist
	}
	at := filepath.Join(root, folder)
	if err := os.MkdirAll(at, 0o755); err != nil { //nolint:gosec // the child needs access; others cannot reach this folder
		return err
	}
	if err := unix.Mount(folder, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	// Where the kernel is older than 5.12, permissions and Landlock keep it from being written.
	_ = unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_RECURSIVE,
		&unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV})
	return nil
}

func mountProc(root string) error {
	at := filepath.Join(root, "proc")
	if err := os.Mkdir(at, 0o755); err != nil { //nolint:gosec // as above
		return err
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	err := unix.Mount("proc", at, "proc", flags, "subset=pid") // without /proc/sys and the like, since Linux 5.8
	if errors.Is(err, unix.EINVAL) {
		err = unix.Mount("proc", at, "proc", flags, "")
	}
	return err
}

// enterRoot leaves the old root behind.
func enterRoot(root, work string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil { // the old root lies on top of the new one then
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	return os.Chdir("/" + work)
}
