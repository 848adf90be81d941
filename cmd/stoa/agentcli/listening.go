package agentcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// listening is the file beside the key file that a listener locks until its process ends, however it ends. It holds the listener's
// failure, if it has one, for doctor.
type listening struct {
	file *os.File
	// fails is true while the file holds a failure.
	fails bool
}

// failing is an event that the listener hands over again and again.
type failing struct {
	Process  int       `json:"process"`
	Kind     string    `json:"kind"`
	EventID  string    `json:"event_id"`
	Attempts int       `json:"attempts"`
	Next     time.Time `json:"next"`
	Error    string    `json:"error"`
}

func listeningFile(key string) string { return key + ".listening" }

// lockListening locks the file, or fails if another listener has it.
func lockListening(key string) (*listening, error) {
	path := listeningFile(key)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another program listens already (%s)", path), file.Close())
	}
	l := &listening{file: file}
	return l, l.write(nil)
}

// succeeded takes a failure out of the file.
func (l *listening) succeeded() error {
	if !l.fails {
		return nil
	}
	l.fails = false
	return l.write(nil)
}

// failed writes why an event is not handed over.
func (l *listening) failed(failed *client.UnhandledError) error {
	l.fails = true
	raw, err := json.Marshal(failing{
		os.Getpid(), failed.Event.Kind, failed.Event.ID, failed.Attempts, failed.Next.UTC(), terminal.Plain(failed.Err.Error()),
	})
	return errors.Join(err, l.write(raw))
}

func (l *listening) write(content []byte) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt(content, 0)
	return err
}

// failure returns what the listener of a key file says of its failure, empty if it has none or does not run.
func failure(key string) string {
	raw, err := os.ReadFile(listeningFile(key))
	var found failing
	if err != nil || json.Unmarshal(raw, &found) != nil { // it may be written at this moment
		return ""
	}
	if errors.Is(syscall.Kill(found.Process, 0), syscall.ESRCH) { // it was killed
		return ""
	}
	return fmt.Sprintf("The listener cannot hand over %s %s: %s (%d times). It is tried again at %s, and later events wait behind it.",
		found.Kind, found.EventID, found.Error, found.Attempts, utc(found.Next))
}
