package client

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"stoa/rest/client/keylog"
)

// seenLog is the part of a log that audits have read: its tree, and where the label of each agent is. It is kept in a folder of files,
// one for each audit; its name says from which index to which. A file is written as a whole and never changed, so several programs may
// share the folder.
type seenLog struct {
	tree

	folder, origin string
	// from is up to where the files go.
	from   int64
	files  []string
	labels map[[sha256.Size]byte]int64
	// fresh are the labels that no file has.
	fresh []byte
}

// seenPart is the content of a file. Labels are 32 bytes each, with 8 of their index.
type seenPart struct {
	Origin string   `json:"origin"`
	Size   int64    `json:"size"`
	Hashes []string `json:"hashes"`
	Labels []byte   `json:"labels"`
}

const labelSize = sha256.Size + 8

// manyParts is how many files are made one.
const manyParts = 32

func partName(from, to int64) string { return fmt.Sprintf("%012d-%012d", from, to) }

// openSeenLog reads the folder of an epoch; it makes it if it does not exist.
func openSeenLog(folder, epoch, origin string) (*seenLog, error) {
	folder = filepath.Join(folder, epoch)
	for {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		s := &seenLog{folder: folder, origin: origin, labels: make(map[[sha256.Size]byte]int64)}
		err := s.load()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another program has made many files one
		}
		return s, err
	}
}

// load reads the files one after the other, of those that begin at one index the longest.
func (s *seenLog) load() error {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return err
	}
	next := make(map[int64]int64)
	for _, entry := range entries {
		var from, to int64
		if _, err := fmt.Sscanf(entry.Name(), "%d-%d", &from, &to); err != nil || entry.Name() != partName(from, to) || to <= from {
			continue
		}
		s.files = append(s.files, entry.Name())
		next[from] = max(next[from], to)
	}
	for next[s.from] > 0 {
		if err := s.read(partName(s.from, next[s.from]), next[s.from]); err != nil {
			return err
		}
	}
	return nil
}

func (s *seenLog) read(name string, to int64) error {
	raw, err := os.ReadFile(filepath.Join(s.folder, name))
	if err != nil {
		return err
	}
	var part seenPart
	err = json.Unmarshal(raw, &part)
	if err == nil {
		s.hashes, err = keylog.ParseHashes(part.Hashes)
	}
	if err != nil || part.Size != to || part.Origin != s.origin || len(part.Labels)%labelSize != 0 {
		return errors.Join(fmt.Errorf("%s is no part of the log %s: delete the folder to read the log from its beginning",
			filepath.Join(s.folder, name), s.origin), err)
	}
	for labels := part.Labels; len(labels) > 0; labels = labels[labelSize:] {
		s.labels[[sha256.Size]byte(labels)] = int64(binary.BigEndian.Uint64(labels[sha256.Size:]))
	}
	s.size, s.from = to, to
	return nil
}

// add adds an entry that was read. It returns ErrLabelTwice if the handle of an agent has an entry already.
func (s *seenLog) add(index int64, entry keylog.Entry) error {
	s.append(entry)
	if entry.Type != keylog.TypeAgent {
		return nil
	}
	if before, twice := s.labels[entry.Label]; twice {
		return refuse(ErrLabelTwice, http.StatusConflict, "log_label_twice", "entries %d and %d of %s have the label %x: one handle, and "+
			"two keys", before, index, s.origin, entry.Label)
	}
	s.labels[entry.Label] = index
	s.fresh = binary.BigEndian.AppendUint64(append(s.fresh, entry.Label[:]...), uint64(index))
	return nil
}

// save writes what no file has, and makes many files one.
func (s *seenLog) save() error {
	if s.size == s.from {
		return nil
	}
	part := seenPart{Origin: s.origin, Size: s.size, Hashes: encodeHashes(s.hashes), Labels: s.fresh}
	from := s.from
	if len(s.files) >= manyParts {
		from, part.Labels = 0, nil
		for label, index := range s.labels {
			part.Labels = binary.BigEndian.AppendUint64(append(part.Labels, label[:]...), uint64(index))
		}
	}
	raw, err := json.Marshal(part)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(s.folder, partName(from, s.size)), raw); err != nil || from > 0 {
		return err
	}
	for _, name := range s.files {
		if name != partName(0, s.size) {
			if removed := os.Remove(filepath.Join(s.folder, name)); !errors.Is(removed, fs.ErrNotExist) {
				err = errors.Join(err, removed)
			}
		}
	}
	return err
}
