package attachments

// OpenFolder opens a folder store on a disk of the test's.
var OpenFolder = openFolder

// The sizes that tests need to know.
const (
	ReserveStep = reserveStep
	MaxAttempts = maxAttempts
)

// PublishedKey is the place of a public copy in the store.
var PublishedKey = publishedKey

// LocalDisk is the disk of a server.
type LocalDisk = localDisk
