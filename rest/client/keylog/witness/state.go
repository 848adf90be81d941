package witness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"
)

// load reads the last signed head of a log.
func (l *witnessed) load() error {
	signed, err := os.ReadFile(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, head, err := headOf(signed)
	if err != nil {
		return err
	}
	if head.Origin != l.origin {
		return errors.New("it is of the log " + head.Origin)
	}
	if _, err := note.Open(signed, note.VerifierList(l.keys...)); err != nil {
		return err
	}
	l.head, l.signed = head, signed
	return nil
}

// writeFile writes a file of mode 0600 as a whole and has it on disk when it returns: a crash leaves the file of before or the new
// one.
func writeFile(path string, content []byte) error {
	draft, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Rename(draft.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
