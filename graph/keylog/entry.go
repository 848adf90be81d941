package keylog

import (
	"crypto/rand"
	"crypto/sha256"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	// entrySize is the size of an entry in bytes: type, label, commitment.
	entrySize = 1 + 2*sha256.Size
	// saltSize is the size in bytes of the salt that opens a commitment.
	saltSize = 16
)

// The types of entries.
const (
	typeAgent byte = 1
	typeKey   byte = 2
	typeEpoch byte = 4
)

func entry(kind byte, label, commitment []byte) []byte {
	raw := make([]byte, 0, entrySize)
	raw = append(raw, kind)
	raw = append(raw, label...)
	return append(raw, commitment...)
}

func digest(parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "")))
	return sum[:]
}

// subjectOf is the subject of a key's entry in log_openings: the beginning of the entry's hash.
func subjectOf(entry []byte) uuid.UUID {
	sum := sha256.Sum256(entry)
	return uuid.UUID(sum[:16])
}

// agent holds the fields that the entry of an agent is made of. Its key is empty if the agent is deleted.
type agent struct {
	ID        uuid.UUID `db:"id"`
	Handle    string    `db:"handle"`
	Key       string    `db:"key"`
	CreatedAt time.Time `db:"created_at"`
}

// entry returns the agent's entry in the log of a host, and the salt that opens it. The commitment of a deleted agent says
// nothing, and the salt is nil.
func (a *agent) entry(host string) (raw, salt []byte) {
	label := digest("stoa log handle 1\n", host, "\n", a.Handle)
	if a.Key == "" {
		return entry(typeAgent, label, random(sha256.Size)), nil
	}
	salt = random(saltSize)
	at := a.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000Z") // as the card has it
	commitment := digest("stoa log agent 1\n", string(salt), a.ID.String(), "\n", a.Handle, "\n", a.Key, "\n", at, "\n")
	return entry(typeAgent, label, commitment), salt
}

func random(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b) // it never fails
	return b
}

// origin is the name of the log of a host in an epoch.
func origin(host string, epoch int) string { return host + "/log/" + strconv.Itoa(epoch) }

// hostOf returns the host and the epoch of an origin.
func hostOf(origin string) (host string, epoch int) {
	at := strings.LastIndex(origin, "/log/")
	if at < 0 {
		return origin, 0
	}
	epoch, _ = strconv.Atoi(origin[at+len("/log/"):])
	return origin[:at], epoch
}
