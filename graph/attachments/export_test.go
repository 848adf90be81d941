package attachments

import (
	"context"

	"github.com/google/uuid"
)

// OpenFolder opens a folder store on a disk of the test's.
var OpenFolder = openFolder

// The sizes that tests need to know.
const (
	ReserveStep = reserveStep
	MaxAttempts = maxAttempts
)

// PublishedKey is the place of a public copy in the store.
var PublishedKey = publishedKey

// TryClaim tries to take an inspection slot, and reports whether all were taken.
func (a *API) TryClaim(ctx context.Context) (full bool, err error) {
	_, full, err = a.tryClaim(ctx, uuid.New(), uuid.New())
	return full, err
}

// LocalDisk is the disk of a server.
type LocalDisk = localDisk
