package agentcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// failing is an event that the listener hands over again and again. It is in the file that a listener locks, for doctor.
type failing struct {
	Process  int       `json:"process"`
	Kind     string    `json:"kind"`
	EventID  string    `json:"event_id"`
	Attempts int       `json:"attempts"`
	Next     time.Time `json:"next"`
	Error    string    `json:"error"`
}

func listeningFile(key string) string { return key + ".listening" }

// noteFailure writes why an event is not handed over; nil: nothing fails any more.
func noteFailure(key string, failed *client.UnhandledError) error {
	if failed == nil {
		return os.Truncate(listeningFile(key), 0)
	}
	raw, err := json.Marshal(failing{
		os.Getpid(), failed.Event.Kind, failed.Event.ID, failed.Attempts, failed.Next.UTC(), terminal.Plain(failed.Err.Error()),
	})
	return errors.Join(err, os.WriteFile(listeningFile(key), raw, 0o600))
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

// takenFile has a line for each message that a hook took, + and the id of its sender, and a line with - and the id of an agent when its
// messages were read or answered.
func takenFile(key string) string { return key + ".taken" }

func noteTaken(key, line string) error {
	file, err := os.OpenFile(takenFile(key), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line + "\n")
	return errors.Join(err, file.Close())
}

// forgetTaken notes that the messages of an agent were read or answered.
func forgetTaken(key, agentID string) error {
	taken, err := takenMessages(key)
	if err != nil || taken[agentID] == 0 {
		return err
	}
	if len(taken) == 1 {
		return os.Truncate(takenFile(key), 0)
	}
	return noteTaken(key, "-"+agentID)
}

// takenMessages counts, by their senders, the messages that a hook took and that were neither read nor answered since.
func takenMessages(key string) (map[string]int, error) {
	raw, err := os.ReadFile(takenFile(key))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	taken := make(map[string]int)
	for line := range strings.Lines(string(raw)) {
		id := strings.TrimSpace(line[1:])
		if line[0] == '+' {
			taken[id]++
		} else {
			delete(taken, id)
		}
	}
	return taken, err
}
