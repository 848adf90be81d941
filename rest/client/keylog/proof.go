package keylog

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// proofHeader is the first line of a proof, by C2SP tlog-proof.
const proofHeader = "c2sp.org/tlog-proof@v1"

// ErrNotIncluded says that a proof does not show that an entry is in the log.
var ErrNotIncluded = errors.New("the proof does not show this entry in the log")

// ErrInconsistent says that one head of a log does not continue another.
var ErrInconsistent = errors.New("one head of the log does not continue the other")

// Proof is a proof of inclusion that needs no server: the checkpoint, the entry's index and the hashes beside its path.
type Proof struct {
	Index      int64
	Hashes     []tlog.Hash
	Checkpoint []byte // the signed note
}

// Text returns the proof as a file holds it.
func (p Proof) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nindex %d\n", proofHeader, p.Index)
	for _, hash := range p.Hashes {
		b.WriteString(base64.StdEncoding.EncodeToString(hash[:]) + "\n")
	}
	b.WriteByte('\n')
	b.Write(p.Checkpoint)
	return b.String()
}

// ParseProof reads a proof. Extra data, which Stoa's proofs do not have, is skipped.
func ParseProof(text []byte) (Proof, error) {
	head, checkpoint, found := bytes.Cut(text, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !found || lines[0] != proofHeader {
		return Proof{}, errors.New("no proof: its first line is " + proofHeader)
	}
	if lines = lines[1:]; len(lines) > 0 && strings.HasPrefix(lines[0], "extra ") {
		lines = lines[1:]
	}
	p := Proof{Checkpoint: checkpoint}
	number, isIndex := "", false
	if len(lines) > 0 {
		number, isIndex = strings.CutPrefix(lines[0], "index ")
	}
	index, err := strconv.ParseInt(number, 10, 64)
	if !isIndex || err != nil || index < 0 || strconv.FormatInt(index, 10) != number {
		return Proof{}, errors.New("a proof names an index")
	}
	p.Index = index
	p.Hashes, err = ParseHashes(lines[1:])
	return p, err
}

// maxHashes is more than a proof in any log has.
const maxHashes = 128

// ParseHashes reads hashes in base64, as proofs have them.
func ParseHashes(lines []string) ([]tlog.Hash, error) {
	if len(lines) > maxHashes {
		return nil, fmt.Errorf("a proof has at most %d hashes", maxHashes)
	}
	hashes := make([]tlog.Hash, len(lines))
	for i, line := range lines {
		raw, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(raw) != len(hashes[i]) {
			return nil, fmt.Errorf("%q is no hash", line)
		}
		copy(hashes[i][:], raw)
	}
	return hashes, nil
}

// Check checks the checkpoint of the proof, as Open does, and that the entry is in its tree. It returns ErrNotIncluded if it is not.
func (p Proof) Check(entry Entry, log note.Verifier, witnesses ...note.Verifier) (Witnessed, error) {
	head, err := Open(p.Checkpoint, log, witnesses...)
	if err != nil {
		return Witnessed{}, err
	}
	return head, CheckIncluded(head.Checkpoint, p.Index, entry, p.Hashes)
}

// CheckIncluded checks that an entry has that index in the tree of a head. It returns ErrNotIncluded if the hashes do not show it.
func CheckIncluded(head Checkpoint, index int64, entry Entry, hashes []tlog.Hash) error {
	if index < 0 || index >= head.Size {
		return ErrNotIncluded
	}
	if tlog.CheckRecord(hashes, head.Size, head.Root, index, tlog.RecordHash(entry.Bytes())) != nil {
		return ErrNotIncluded
	}
	return nil
}

// CheckConsistent checks that a newer head continues an older one of the same origin. It returns ErrInconsistent if it does not, and so
// if it is smaller.
func CheckConsistent(older, newer Checkpoint, hashes []tlog.Hash) error {
	switch {
	case older.Origin != newer.Origin, newer.Size < older.Size:
		return ErrInconsistent
	case older.Size == newer.Size && older.Root != newer.Root:
		return ErrInconsistent
	case older.Size == 0 || older.Size == newer.Size:
		return nil
	}
	if tlog.CheckTree(hashes, newer.Size, newer.Root, older.Size, older.Root) != nil {
		return ErrInconsistent
	}
	return nil
}
