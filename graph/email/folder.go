package email

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// folder keeps mails as files instead of sending them, for trying Stoa without a mail server. A mail that is sent again
// replaces itself.
type folder struct{ path string }

// String implements Mailer.
func (f *folder) String() string { return "file:" + f.path }

// Send implements Mailer: it writes <id>.eml in one step, readable by its owner alone.
func (f *folder) Send(_ context.Context, m *Message) (string, error) {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return "", err
	}
	draft, err := os.CreateTemp(f.path, ".draft-*") // 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(draft.Name()) // it is gone when all went well
	_, err = m.WriteTo(draft)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return "", err
	}
	path := filepath.Join(f.path, m.ID.String()+".eml")
	return "written to " + path, os.Rename(draft.Name(), path)
}
