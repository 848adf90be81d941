package keylog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// ErrUnsigned says that a checkpoint is not signed by the log's key.
var ErrUnsigned = errors.New("the checkpoint is not signed by the key of the log")

// Checkpoint is a head of the log.
type Checkpoint struct {
	Origin string
	Size   int64
	Root   tlog.Hash
}

// Text returns the text that the log and its witnesses sign.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]))
}

// ParseCheckpoint reads the text of a checkpoint. Lines after the third are extensions, which it takes no notice of.
func ParseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) < 4 || lines[0] == "" {
		return Checkpoint{}, errors.New("a checkpoint has three lines")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Checkpoint{}, fmt.Errorf("the size of a checkpoint is no number: %q", lines[1])
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	c := Checkpoint{Origin: lines[0], Size: size}
	if err != nil || len(root) != len(c.Root) {
		return Checkpoint{}, errors.New("the root of a checkpoint is no hash")
	}
	copy(c.Root[:], root)
	return c, nil
}

// Witnessed is a checkpoint whose signatures were checked.
type Witnessed struct {
	Checkpoint
	Note []byte // as it came, to be kept

	// By has when each of the known witnesses signed, by its name.
	By map[string]time.Time
}

// Open checks a signed checkpoint of a log with this name and key. A signature by a witness that is known must be sound; those of
// others count nothing. It returns ErrUnsigned if the log has not signed.
func Open(signed []byte, log note.Verifier, witnesses ...note.Verifier) (Witnessed, error) {
	opened, err := note.Open(signed, note.VerifierList(append([]note.Verifier{log}, witnesses...)...))
	if _, unknown := errors.AsType[*note.UnverifiedNoteError](err); unknown {
		return Witnessed{}, ErrUnsigned
	}
	if err != nil {
		return Witnessed{}, err
	}
	found, err := ParseCheckpoint(opened.Text)
	if err != nil {
		return Witnessed{}, err
	}
	w, byLog := Witnessed{Checkpoint: found, Note: signed, By: make(map[string]time.Time)}, false
	for _, signature := range opened.Sigs {
		raw, err := base64.StdEncoding.Strict().DecodeString(signature.Base64)
		if err != nil {
			return Witnessed{}, fmt.Errorf("the signature of %s: %w", signature.Name, err)
		}
		if signature.Name == log.Name() && signature.Hash == log.KeyHash() {
			byLog = true
			continue
		}
		w.By[signature.Name] = signedAt(raw)
	}
	if !byLog || found.Origin != log.Name() {
		return Witnessed{}, ErrUnsigned
	}
	return w, nil
}
