package witness

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/rest/client/keylog"
)

const (
	// maxHashes is how many hashes a submission may have.
	maxHashes = 63
	// maxSubmission is the size of a submission in bytes: hashes, text and many signatures.
	maxSubmission = 16 << 10
	// maxText is the size of the text of a checkpoint in bytes, and maxName that of the name of a log or a witness: so the state of
	// a log with two keys is below 1 KB.
	maxText, maxName = 384, 100
	// sizeType is the media type of an answer that names the size which a witness knows.
	sizeType = "text/x.tlog.size"
)

// submission is a checkpoint with the proof that it continues a log from a size: the body of add-checkpoint.
type submission struct {
	old        int64
	hashes     []tlog.Hash
	checkpoint []byte // the signed note
}

func (s submission) body() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "old %d\n", s.old)
	for _, hash := range s.hashes {
		b.WriteString(base64.StdEncoding.EncodeToString(hash[:]) + "\n")
	}
	b.WriteByte('\n')
	b.Write(s.checkpoint)
	return b.Bytes()
}

func parseSubmission(body []byte) (submission, error) {
	head, checkpoint, found := bytes.Cut(body, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	number, isOld := strings.CutPrefix(lines[0], "old ")
	old, err := parseSize(number)
	if !found || !isOld || err != nil {
		return submission{}, errors.New("a submission begins with the line: old SIZE")
	}
	if lines = lines[1:]; len(lines) > maxHashes {
		return submission{}, fmt.Errorf("a submission has at most %d hashes", maxHashes)
	}
	hashes, err := keylog.ParseHashes(lines)
	return submission{old, hashes, checkpoint}, err
}

// parseSize reads a number as C2SP writes the size of a tree.
func parseSize(text string) (int64, error) {
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != text {
		return 0, fmt.Errorf("%q is no size of a tree", text)
	}
	return size, nil
}

// headOf reads a checkpoint without a look at its signatures.
func headOf(signed []byte) (text string, head keylog.Checkpoint, err error) {
	_, err = note.Open(signed, note.VerifierList())
	unverified, isNote := errors.AsType[*note.UnverifiedNoteError](err)
	if !isNote {
		return "", keylog.Checkpoint{}, errors.New("the checkpoint is no signed note")
	}
	text = unverified.Note.Text
	if len(text) > maxText || strings.Contains(text, "\n\n") {
		return "", keylog.Checkpoint{}, fmt.Errorf("the text of a checkpoint has at most %d bytes, and no empty lines", maxText)
	}
	head, err = keylog.ParseCheckpoint(text)
	return text, head, err
}
