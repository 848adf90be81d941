// Package keylog checks a Stoa's key log (docs/contract.md §12.2): a Merkle tree (RFC 6962) of the agents' keys, the server's
// keys and the receipts, in the formats of C2SP: signed-note, tlog-checkpoint, tlog-cosignature, tlog-tiles and tlog-proof.
//
// It makes no requests and keeps no state. The caller decides which keys to trust and stores the heads that it has seen.
// Everything is safe for concurrent use.
package keylog

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// EntrySize is the size of an entry in bytes: type, label, commitment.
const EntrySize = 1 + 2*sha256.Size

// SaltSize is the size in bytes of the salt that opens a commitment.
const SaltSize = 16

// Type is the type of an entry.
type Type byte

// The types of entries.
const (
	TypeAgent   Type = 1
	TypeKey     Type = 2
	TypeReceipt Type = 3
	TypeEpoch   Type = 4
)

// Purposes of the server's keys, whose entries have the label Digest(purpose).
const (
	PurposeLog      = "log"
	PurposeReceipts = "receipts"
)

// Entry is an entry of the log.
type Entry struct {
	Type       Type
	Label      [sha256.Size]byte
	Commitment [sha256.Size]byte
}

// Bytes returns the entry as the log stores it.
func (e Entry) Bytes() []byte {
	return slices.Concat([]byte{byte(e.Type)}, e.Label[:], e.Commitment[:])
}

// ParseEntry reads an entry.
func ParseEntry(raw []byte) (Entry, error) {
	if len(raw) != EntrySize || raw[0] < byte(TypeAgent) || raw[0] > byte(TypeEpoch) {
		return Entry{}, fmt.Errorf("no entry of a key log: %d bytes", len(raw))
	}
	return Entry{Type(raw[0]), [sha256.Size]byte(raw[1:]), [sha256.Size]byte(raw[1+sha256.Size:])}, nil
}

// Agent has the fields of an agent to which its entry commits, as in the server's JSON.
type Agent struct{ ID, Handle, Key, CreatedAt string }

// Entry returns the entry of an agent in the log of a host, whose commitment the salt opens.
func (a Agent) Entry(host string, salt []byte) Entry {
	return Entry{TypeAgent, AgentLabel(host, a.Handle), digest(
		"stoa log agent 1\n", string(salt), a.ID, "\n", a.Handle, "\n", a.Key, "\n", a.CreatedAt, "\n")}
}

// AgentLabel is the label of the entry of an agent with that handle. No label of an agent may occur twice in a log.
func AgentLabel(host, handle string) [sha256.Size]byte {
	return digest("stoa log handle 1\n", host, "\n", handle)
}

// KeyEntry returns the entry of a key of the server: an Ed25519 public key for a purpose.
func KeyEntry(purpose string, public []byte) (Entry, error) {
	if len(public) != sha256.Size {
		return Entry{}, fmt.Errorf("an Ed25519 public key has %d bytes, not %d", sha256.Size, len(public))
	}
	return Entry{TypeKey, digest(purpose), [sha256.Size]byte(public)}, nil
}

// ReceiptEntry returns the entry of a signed document: a receipt or a rating.
func ReceiptEntry(salt []byte, jws string) Entry {
	return Entry{Type: TypeReceipt, Commitment: digest("stoa log receipt 1\n", string(salt), jws)}
}

// EpochEntry returns the first entry of an epoch that follows a log with another origin.
func EpochEntry(former string, root [sha256.Size]byte) Entry {
	return Entry{TypeEpoch, digest(former), root}
}

func digest(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(parts, "")))
}

// Origin is the name of the log of a host (host or host:port) in an epoch, from 1.
func Origin(host string, epoch int) string { return host + "/log/" + strconv.Itoa(epoch) }

// HostOf returns host and epoch of an origin.
func HostOf(origin string) (host string, epoch int, err error) {
	host, number, found := strings.Cut(origin, "/log/")
	if epoch, err = strconv.Atoi(number); !found || err != nil || Origin(host, epoch) != origin || epoch < 1 || host == "" {
		return "", 0, fmt.Errorf("%q is no origin of a key log", origin)
	}
	return host, epoch, nil
}

// TileWidth is how many entries, or hashes, a full tile has (tlog-tiles).
const TileWidth = 1 << tileHeight

const tileHeight = 8

// EntriesPath is the path of a tile of entries below the log's address. width is from 1 to TileWidth; the path of a full tile
// omits it.
func EntriesPath(n int64, width int) string {
	return "tile/entries/" + strings.TrimPrefix(tlog.Tile{H: tileHeight, L: -1, N: n, W: width}.Path(), "tile/8/data/")
}

// ParseEntries reads a tile of entries.
func ParseEntries(tile []byte) ([]Entry, error) {
	var entries []Entry
	for len(tile) > 0 {
		if len(entries) == TileWidth || len(tile) < 2 || len(tile)-2 < int(binary.BigEndian.Uint16(tile)) {
			return nil, errors.New("the tile of entries is cut off or too long")
		}
		size := 2 + int(binary.BigEndian.Uint16(tile))
		entry, err := ParseEntry(tile[2:size])
		if err != nil {
			return nil, err
		}
		entries, tile = append(entries, entry), tile[size:]
	}
	return entries, nil
}

// Edge is the right edge of an append-only tree.
type Edge struct {
	Size int64
	// Subtrees are the roots of the full subtrees that the tree consists of, from left to right, so from large to small.
	Subtrees []tlog.Hash
}

// Append appends an entry, and merges one subtree for each trailing 1 bit of the old size. Unless it is nil, merged is called with
// level, number and root of each merged subtree.
func (e *Edge) Append(entry []byte, merged func(level int, n int64, root tlog.Hash)) {
	hash, n := tlog.RecordHash(entry), e.Size
	for level := 1; n&1 == 1; level++ {
		last := len(e.Subtrees) - 1
		hash, n = tlog.NodeHash(e.Subtrees[last], hash), n>>1
		e.Subtrees = e.Subtrees[:last]
		if merged != nil {
			merged(level, n, hash)
		}
	}
	e.Subtrees = append(e.Subtrees, hash)
	e.Size++
}

// Root returns the root of the tree.
func (e *Edge) Root() tlog.Hash {
	if e.Size == 0 {
		return sha256.Sum256(nil)
	}
	last := len(e.Subtrees) - 1
	root := e.Subtrees[last]
	for _, hash := range slices.Backward(e.Subtrees[:last]) {
		root = tlog.NodeHash(hash, root)
	}
	return root
}

// ErrUnsigned means that a checkpoint is not signed by the log's key.
var ErrUnsigned = errors.New("the checkpoint is not signed by the key of the log")

// Checkpoint is a head of the log.
type Checkpoint struct {
	Origin string    `json:"origin"`
	Size   int64     `json:"size"`
	Root   tlog.Hash `json:"root"`
}

// Text returns the text that the log and its witnesses sign.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]))
}

// ParseCheckpoint reads the text of a checkpoint. Lines after the third are extensions, which it ignores.
func ParseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) < 4 || lines[0] == "" {
		return Checkpoint{}, errors.New("a checkpoint has three lines")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Checkpoint{}, fmt.Errorf("the size of a checkpoint is no number: %q", lines[1])
	}
	roots, err := ParseHashes(lines[2:3])
	if err != nil {
		return Checkpoint{}, errors.New("the root of a checkpoint is no hash")
	}
	return Checkpoint{Origin: lines[0], Size: size, Root: roots[0]}, nil
}

// Witnessed is a checkpoint whose signatures were checked.
type Witnessed struct {
	Checkpoint

	// Note is the signed note as it came: evidence of the log's publication.
	Note string `json:"checkpoint"`
	// By maps the name of each known witness to the time at which it signed.
	By map[string]time.Time `json:"-"`
}

// Open checks a signed checkpoint of a log with this name and key. A known witness's signature must be valid; others are ignored.
// It returns ErrUnsigned if the log has not signed.
func Open(signed []byte, log note.Verifier, witnesses ...note.Verifier) (Witnessed, error) {
	opened, err := note.Open(signed, note.VerifierList(append([]note.Verifier{log}, witnesses...)...))
	if _, unknown := errors.AsType[*note.UnverifiedNoteError](err); unknown {
		return Witnessed{}, ErrUnsigned
	}
	if err != nil {
		return Witnessed{}, err
	}
	found, err := ParseCheckpoint(opened.Text)
	if err != nil {
		return Witnessed{}, err
	}
	w, byLog := Witnessed{found, string(signed), make(map[string]time.Time)}, false
	for _, signature := range opened.Sigs {
		raw, err := base64.StdEncoding.Strict().DecodeString(signature.Base64)
		if err != nil {
			return Witnessed{}, fmt.Errorf("the signature of %s: %w", signature.Name, err)
		}
		if signature.Name == log.Name() && signature.Hash == log.KeyHash() {
			byLog = true
			continue
		}
		w.By[signature.Name] = signedAt(raw)
	}
	if !byLog || found.Origin != log.Name() {
		return Witnessed{}, ErrUnsigned
	}
	return w, nil
}
