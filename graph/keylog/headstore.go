package keylog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sys/unix"

	"stoa/graph/platform/db"
	"stoa/rest/client/durable"
	format "stoa/rest/client/keylog"
)

// The reasons why a head is not signed.
var (
	// ErrBehind means that the stored log is smaller than a signed head, or has an earlier epoch.
	ErrBehind = errors.New("the key log in the database is behind one that was signed")
	// ErrForked means that the stored log does not continue a signed head.
	ErrForked = errors.New("the key log in the database does not continue one that was signed")
)

// HeadStore keeps the greatest head that was signed: in memory and, if it has a path, in a file, which all processes with the
// same data folder share. It is safe for concurrent use.
type HeadStore struct {
	path string
	mu   sync.Mutex
	// heads holds the last head that this process signed, and the heads that a witness has shown since and that the database does
	// not continue.
	heads []Head
}

// NewHeadStore returns the store of a file, which need not exist. If path is empty it keeps heads in memory only.
func NewHeadStore(path string) *HeadStore { return &HeadStore{path: path} }

// Greatest returns the greatest head that was signed, nil if none was.
func (s *HeadStore) Greatest() (*Head, error) {
	kept, err := s.kept()
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	return &kept[0], nil
}

// kept returns the heads that the next one must continue, the greatest first.
func (s *HeadStore) kept() ([]Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read()
}

// read is kept for a caller that holds mu.
func (s *HeadStore) read() ([]Head, error) {
	heads := slices.Clone(s.heads)
	if s.path != "" {
		raw, err := os.ReadFile(s.path)
		if err == nil {
			var filed Head
			filed, err = parseHead(raw)
			heads = append(heads, filed)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
	}
	slices.SortStableFunc(heads, func(a, b Head) int { return cmp.Or(cmp.Compare(b.Epoch, a.Epoch), cmp.Compare(b.Size, a.Size)) })
	return slices.CompactFunc(heads, Head.equals), nil
}

func (h Head) equals(other Head) bool {
	return h.Origin == other.Origin && h.Size == other.Size && bytes.Equal(h.Root, other.Root)
}

// exceeds reports whether the head is of a later epoch, or larger in the same one.
func (h Head) exceeds(other Head) bool {
	return h.Epoch > other.Epoch || h.Epoch == other.Epoch && h.Size > other.Size
}

// Raise keeps a head and writes its note to the file, if check accepts the heads that are kept. Other processes with the same
// file wait meanwhile. After a crash the file holds the previous head or this one.
func (s *HeadStore) Raise(head Head, note []byte, check func(kept []Head) error) error {
	return s.locked(func(kept []Head) error {
		err := check(kept)
		if err == nil && (len(kept) == 0 || head.exceeds(kept[0])) {
			err = s.write(note)
		}
		if err == nil {
			s.heads = []Head{head} // it continues all others
		}
		return err
	})
}

// Learn keeps a signed head that the database does not continue: in memory, and in the file if it is the greatest.
func (s *HeadStore) Learn(head Head, note []byte) error {
	return s.locked(func(kept []Head) error {
		if !slices.ContainsFunc(kept, head.equals) {
			s.heads = append(s.heads, head)
		}
		if len(kept) > 0 && !head.exceeds(kept[0]) {
			return nil
		}
		return s.write(note)
	})
}

// locked calls change with the heads that are kept, while no other process with the same file changes it.
func (s *HeadStore) locked(change func(kept []Head) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path != "" {
		unlock, err := lockFile(s.path + ".lock")
		if err != nil {
			return err
		}
		defer unlock()
	}
	kept, err := s.read()
	if err != nil {
		return err
	}
	return change(kept)
}

func (s *HeadStore) write(note []byte) error {
	if s.path == "" {
		return nil
	}
	return durable.WriteFile(s.path, note)
}

// lockFile waits for the lock of a file.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // closing is not enough: a process that is being started may have inherited f
		_ = f.Close()
	}, nil
}

// checkpoint returns the head as a checkpoint; parseHead returns the head of the checkpoint at the beginning of a note.
func (h Head) checkpoint() format.Checkpoint {
	return format.Checkpoint{Origin: h.Origin, Size: h.Size, Root: tlog.Hash(h.Root)}
}

func parseHead(note []byte) (Head, error) {
	c, err := format.ParseCheckpoint(string(note))
	if err != nil {
		return Head{}, err
	}
	_, epoch, err := format.HostOf(c.Origin)
	return Head{epoch, c.Origin, c.Size, c.Root[:]}, err
}

// continues returns ErrBehind or ErrForked unless a stored head continues all signed heads that are kept.
func (a *API) continues(ctx context.Context, q db.Querier, head Head) error {
	kept, err := a.Signed.kept()
	if err != nil {
		return err
	}
	return continuingAll(ctx, q, head, kept)
}

func continuingAll(ctx context.Context, q db.Querier, head Head, kept []Head) (err error) {
	for _, one := range kept {
		err = errors.Join(err, continuing(ctx, q, head, one))
	}
	return err
}

func continuing(ctx context.Context, q db.Querier, head, kept Head) error {
	if kept.Epoch < head.Epoch {
		return nil
	}
	if kept.exceeds(head) {
		return fmt.Errorf("%w: %s has %d entries, and %s was signed with %d", ErrBehind, head.Origin, head.Size, kept.Origin, kept.Size)
	}
	if kept.equals(head) {
		return nil
	}
	root, err := tlog.TreeHash(kept.Size, hashesOf(ctx, q, head))
	if err != nil && !errors.Is(err, errDiffers) {
		return err
	}
	if err != nil || kept.Origin != head.Origin || !bytes.Equal(root[:], kept.Root) {
		return fmt.Errorf("%w: %s, %d entries", ErrForked, kept.Origin, kept.Size)
	}
	return nil
}
