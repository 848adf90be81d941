package cluster

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	logLimit = 8 << 20 // bytes of postgres.log before it moves to postgres.log.1
	logTail  = 2 << 10 // bytes of it that an error quotes
)

// logFile is the open postgres.log; from is its size at the start of the database.
type logFile struct {
	*os.File
	from int64
}

func (c *Cluster) logPath() string { return filepath.Join(c.data, "postgres.log") }

func (c *Cluster) openLog() (*logFile, error) {
	if err := c.trimLog(logLimit); err != nil {
		return nil, err
	}
	f, err := openPlain(c.logPath(), os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err = errors.Join(err, c.account.chown(f)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &logFile{f, size}, nil
}

// trimLog moves a log beyond the limit to postgres.log.1, in place of the
// former one. The database may have it open, so its content moves, not the
// file; what is written between copying and cutting is lost.
func (c *Cluster) trimLog(limit int64) error {
	f, err := openPlain(c.logPath(), os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() <= limit {
		return err
	}
	old, err := openPlain(c.logPath()+".1", os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = io.Copy(old, f)
	if err = errors.Join(err, c.account.chown(old), old.Close()); err != nil {
		return err
	}
	return f.Truncate(0)
}

// tail returns what the database logged since the file was opened, at most the last logTail bytes, on separate lines.
func (f *logFile) tail() string {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	from := max(f.from, size-logTail)
	b := make([]byte, max(size-from, 0))
	n, _ := f.ReadAt(b, from) // after an error it is the part that was read
	if text := strings.TrimSpace(string(b[:n])); text != "" {
		return "\n" + text
	}
	return ""
}

// openPlain refuses symbolic links: root may be writing into another's folder.
func openPlain(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|unix.O_NOFOLLOW, 0o600)
}
