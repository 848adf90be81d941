package client

import (
	"errors"
	"io/fs"
	"os"
)

// appendLine writes a line in one piece, after what a crash may have cut, and has it on disk when it returns. It makes the file,
// with mode 0600, if it does not exist; a nil line does only that. Several programs may append to one file.
func appendLine(path string, line []byte) (err error) {
	_, missing := os.Stat(path)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if errors.Is(missing, fs.ErrNotExist) {
		if err := syncFolderOf(path); err != nil {
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
	if _, err := file.Write(line); err != nil {
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
