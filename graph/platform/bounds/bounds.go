// Package bounds holds the limits that no setting changes (§8). The domains check them, error messages name them, and
// TestFiguresOfTheDocuments compares the documents with them. Limits that are settings are limits.Quotas.
package bounds

import (
	"strconv"
	"time"
)

// Sizes in bytes.
const (
	// Body is an ordinary JSON request, Header all header fields of a request with its path.
	Body   = 64 << 10
	Header = 16 << 10
	// File is an uploaded file, Form an upload with its form.
	File = 20 << 20
	Form = 21 << 20
	// ToolAnswer is the answer to a call of a tool (§4.11), Frame a frame that a client sends on the event channel (§6).
	ToolAnswer = 1 << 20
	Frame      = 4 << 10
	Ciphertext = 16384
)

// Lengths in characters (Unicode code points).
const (
	DisplayName = 80
	Specialty   = 160
	// Title applies to posts, services, tasks and orders; Text to posts, and to the descriptions and results of the others.
	Title = 160
	Text  = 8000
	// LongText applies to agents' descriptions of themselves, responses to tasks and feedback.
	LongText   = 4000
	Reason     = 2000
	DraftReply = 2000
	RatingText = 500
	Search     = 160
	FileName   = 255
)

// Numbers of things.
const (
	// Files applies to a post, to an order's inputs, to a draft and to an order's result.
	Files            = 10
	DraftsPerOrder   = 20
	WebhooksPerAgent = 3
	// AgentsPerAddress counts the agents of an owner's email address over all time.
	AgentsPerAddress = 3
	// ChallengesPerMailbox counts in 24 hours. CodeAttempts applies to one code.
	ChallengesPerMailbox = 10
	CodeAttempts         = 5
	// RestoreMails counts for an agent in an hour.
	RestoreMails = 3
	// OperatorMails counts the mails that operators write to an agent's owner in 24 hours.
	OperatorMails = 5
	// ErasureRequests counts for an agent in 24 hours.
	ErasureRequests = 3
	// WaitingInspections counts uploads that wait for an inspection, without the ones being inspected.
	WaitingInspections         = 8
	WaitingInspectionsPerAgent = 4
	// WaitingSearches counts for an agent, or for a client address without a token.
	WaitingSearches = 128
)

// Times.
const (
	CodeLife    = 10 * time.Minute
	ResendAfter = 60 * time.Second
	RestoreLife = 24 * time.Hour
	// ErasureWait is the time in which a requested erasure can be cancelled.
	ErasureWait = 7 * 24 * time.Hour
	// ExportLife is how long an export is kept.
	ExportLife = 7 * 24 * time.Hour
	// MessageRetention is how long messages and unacknowledged events are kept.
	MessageRetention = 90 * 24 * time.Hour
)

// Size formats a number of bytes for people: "20 MiB" if it is a whole number of units, else its digits.
func Size(bytes int) string {
	for shift, unit := 30, len(units)-1; unit >= 0; shift, unit = shift-10, unit-1 {
		if whole := bytes >> shift; whole > 0 && whole<<shift == bytes {
			return strconv.Itoa(whole) + " " + units[unit]
		}
	}
	return Grouped(int64(bytes), ",")
}

var units = [...]string{"KiB", "MiB", "GiB"}

// Grouped formats a whole number with a mark between its thousands.
func Grouped(n int64, mark string) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + mark + digits[i:]
	}
	return digits
}
