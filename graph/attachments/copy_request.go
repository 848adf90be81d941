package attachments

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

var (
	requestCopyRows = statements.Named("request_copies")
	copyStates      = statements.Named("copy_states")
)

// requestCopies asks for public copies in a transaction, each once, however many requests wait for it. A copy that failed is asked
// for again when its pause is over; again says not to wait for that if it only had no room.
func (a *API) requestCopies(ctx context.Context, tx *db.Tx, ids []uuid.UUID, again bool) error {
	asked, err := db.Column[uuid.UUID](ctx, tx.SQL, requestCopyRows, db.IDs(ids), copyLost.Seconds(), again)
	if err != nil {
		return err
	}
	return a.enqueueCopies(ctx, tx, asked)
}

func (a *API) enqueueCopies(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	for _, id := range ids {
		if err := a.Enqueue(ctx, tx, PublishJob{AttachmentID: id}); err != nil {
			return err
		}
	}
	return nil
}

// outcome is why a public copy was not made.
type outcome string

const (
	// noRoom: the budgets have no room for it.
	noRoom outcome = "no_room"
	// refused: no copy can be made of the file.
	refused outcome = "refused"
	// failed: the attempts ended without a result.
	failed outcome = "failed"
)

// copyState is the state of a requested copy.
type copyState struct {
	ID        uuid.UUID `db:"id"`
	Available bool      `db:"available"`
	Made      bool      `db:"made"`
	// Outcome is empty while the copy can still be made.
	Outcome outcome `db:"outcome"`
	// Need is the size in bytes of a copy that had no room.
	Need int64 `db:"need"`
	// Wait is for how many seconds a failed copy is not asked for again.
	Wait float64 `db:"wait"`
}

// fault is why the file cannot be published, nil if it may be.
func (s *copyState) fault() error {
	switch {
	case !s.Available:
		return fault.New(fault.InvalidAttachment)
	case s.Made || s.Outcome == "":
		return nil
	case s.Outcome == noRoom:
		return errNoRoom()
	case s.Outcome == refused:
		return fault.New(fault.InvalidAttachment).Say("No public copy can be made of the file.")
	default:
		return fault.New(fault.ServiceUnavailable).Say("The public copy of the file cannot be made at the moment.").
			After(time.Duration(s.Wait * float64(time.Second)))
	}
}

func errNoRoom() error {
	return fault.New(fault.StorageQuotaExceeded).Say("The storage budget has no room for the public copies of the files.")
}
