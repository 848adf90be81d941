package keylog

import (
	"bytes"
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

// HeadStore keeps the greatest head that was signed: in memory and, if it has a path, in a file, which all processes with the same
// data folder share. It is safe for concurrent use.
type HeadStore struct {
	path   string
	mu     sync.Mutex
	signed *Head // the greatest of this process
	// shown holds other signed heads, in memory only: a witness has shown them and the database does not continue them.
	shown []Head
}

// NewHeadStore returns the store of a file, which need not exist. If path is empty it keeps heads in memory only.
func NewHeadStore(path string) *HeadStore { return &HeadStore{path: path} }

// Greatest returns the greatest head that was signed, nil if none was.
func (s *HeadStore) Greatest() (*Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.greatest()
}

func (s *HeadStore) greatest() (*Head, error) {
	if s.path == "" {
		return s.signed, nil
	}
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s.signed, nil
	}
	if err != nil {
		return nil, err
	}
	kept, err := parseHead(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	if s.signed != nil && !kept.exceeds(*s.signed) {
		return s.signed, nil
	}
	return &kept, nil
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
	return s.locked(func(kept *Head) error {
		if err := check(s.all(kept)); err != nil {
			return err
		}
		if kept != nil && kept.Epoch == head.Epoch && kept.Size == head.Size {
			return nil
		}
		return s.replace(head, note)
	})
}

// Learn keeps a signed head that the database does not continue: in the file if it is the greatest, else in memory.
func (s *HeadStore) Learn(head Head, note []byte) error {
	return s.locked(func(kept *Head) error {
		if kept == nil || head.exceeds(*kept) {
			err := s.replace(head, note)
			if err != nil {
				s.shown = append(s.shown, head)
			}
			return err
		}
		if !slices.ContainsFunc(s.all(kept), head.equals) {
			s.shown = append(s.shown, head)
		}
		return nil
	})
}

// locked calls change with the greatest head, while no other process with the same file changes it.
func (s *HeadStore) locked(change func(kept *Head) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path != "" {
		unlock, err := lockFile(s.path + ".lock")
		if err != nil {
			return err
		}
		defer unlock()
	}
	kept, err := s.greatest()
	if err != nil {
		return err
	}
	return change(kept)
}

func (s *HeadStore) replace(head Head, note []byte) error {
	if s.path != "" {
		if err := durable.WriteFile(s.path, note); err != nil {
			return err
		}
	}
	s.signed = &head
	return nil
}

// all returns the heads that the next one must continue.
func (s *HeadStore) all(greatest *Head) []Head {
	if greatest == nil {
		return s.shown
	}
	return append([]Head{*greatest}, s.shown...)
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
	kept, err := a.Signed.heads()
	if err != nil {
		return err
	}
	return continuingAll(ctx, q, head, kept)
}

func (s *HeadStore) heads() ([]Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	greatest, err := s.greatest()
	return s.all(greatest), err
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
