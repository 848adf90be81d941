package client

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// journal is a file of lines of mode 0600 that is only appended to. Pins, openings and handled events are kept in such files: several
// programs may share one, of two lines that exclude each other the first counts, and a line that a crash has cut is none.
type journal struct {
	path string
	// seen describes the file as it was read last, up to read bytes.
	seen os.FileInfo
	read int64
}

// follow hands over the lines that were appended since it was called last, by any program. If the file is another one or has shrunk, it
// calls anew, unless that is nil, and begins at its beginning.
func (j *journal) follow(anew func(), each func(line []byte)) error {
	file, err := os.Open(j.path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if j.seen == nil || !os.SameFile(info, j.seen) || info.Size() < j.read {
		j.read = 0
		if anew != nil {
			anew()
		}
	}
	j.seen = info
	raw, err := io.ReadAll(io.NewSectionReader(file, j.read, info.Size()-j.read))
	if err != nil {
		return err
	}
	raw = raw[:bytes.LastIndexByte(raw, '\n')+1] // the rest is being written, or was cut by a crash
	j.read += int64(len(raw))
	for line := range bytes.Lines(raw) {
		each(bytes.TrimSuffix(line, []byte("\n")))
	}
	return nil
}

// append writes a line in one piece, after what a crash may have cut, and has it on disk when it returns. It makes the file if it does
// not exist; a nil line does only that.
func (j *journal) append(line []byte) (err error) {
	_, missing := os.Stat(j.path)
	file, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if errors.Is(missing, fs.ErrNotExist) {
		if err := syncFolderOf(j.path); err != nil {
			return err
		}
	}
	if line == nil {
		return nil
	}
	if cut, err := endsWithoutNewline(file); err != nil {
		return err
	} else if cut {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	return file.Sync()
}

func endsWithoutNewline(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	_, err = file.ReadAt(last, info.Size()-1)
	return last[0] != '\n', err
}
