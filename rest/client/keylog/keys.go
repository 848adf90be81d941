package keylog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// The kinds of keys in signed notes.
const (
	kindLog     = 1 // Ed25519
	kindWitness = 4 // cosignature/v1
)

// cosignatureSize is the size of a witness's signature in bytes: a time in seconds and an Ed25519 signature.
const cosignatureSize = 8 + ed25519.SignatureSize

// key is a named Ed25519 key of a kind. It is a note.Verifier, and with a private key a note.Signer.
type key struct {
	name    string
	kind    byte
	public  ed25519.PublicKey
	private ed25519.PrivateKey
	now     func() time.Time
}

// NewLogSigner returns the signer of the checkpoints of a log with that origin.
func NewLogSigner(origin string, private ed25519.PrivateKey) (note.Signer, error) {
	return newKey(origin, kindLog, private, nil)
}

// NewWitnessSigner returns the signer of checkpoints for a witness with that name; clock gives the times.
func NewWitnessSigner(name string, private ed25519.PrivateKey, now func() time.Time) (note.Signer, error) {
	return newKey(name, kindWitness, private, now)
}

func newKey(name string, kind byte, private ed25519.PrivateKey, now func() time.Time) (key, error) {
	if err := checkName(name); err != nil {
		return key{}, err
	}
	public, _ := private.Public().(ed25519.PublicKey)
	return key{name: name, kind: kind, public: public, private: private, now: now}, nil
}

func checkName(name string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '+' || r > '~' }) {
		return fmt.Errorf("%q is no name of a key: it is ASCII without spaces and +", name)
	}
	return nil
}

// LogKey returns the vkey of a log: its name, key hash and public key, in the form for people.
func LogKey(origin string, public ed25519.PublicKey) string {
	return key{name: origin, kind: kindLog, public: public}.text()
}

// WitnessKey returns the vkey of a witness.
func WitnessKey(name string, public ed25519.PublicKey) string {
	return key{name: name, kind: kindWitness, public: public}.text()
}

func (k key) text() string {
	return fmt.Sprintf("%s+%08x+%s", k.name, k.KeyHash(), base64.StdEncoding.EncodeToString(k.tagged()))
}

// ParseLogKey reads the vkey of a log.
func ParseLogKey(vkey string) (note.Verifier, error) { return parseKey(vkey, kindLog) }

// ParseWitnessKey reads the vkey of a witness.
func ParseWitnessKey(vkey string) (note.Verifier, error) { return parseKey(vkey, kindWitness) }

func parseKey(vkey string, kind byte) (note.Verifier, error) {
	name, rest, _ := strings.Cut(vkey, "+")
	hash, encoded, _ := strings.Cut(rest, "+")
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || checkName(name) != nil || len(raw) != 1+ed25519.PublicKeySize {
		return nil, fmt.Errorf("%q is no vkey: NAME+HASH+KEY", vkey)
	}
	if raw[0] != kind {
		return nil, fmt.Errorf("the vkey of %s is of kind %d, not %d", name, raw[0], kind)
	}
	k := key{name: name, kind: kind, public: raw[1:]}
	if found, err := strconv.ParseUint(hash, 16, 32); err != nil || len(hash) != 8 || uint32(found) != k.KeyHash() {
		return nil, fmt.Errorf("the vkey of %s has the hash of another key", name)
	}
	return k, nil
}

// Public returns the Ed25519 key of a verifier from ParseLogKey or ParseWitnessKey.
func Public(verifier note.Verifier) ed25519.PublicKey {
	k, _ := verifier.(key)
	return k.public
}

func (k key) tagged() []byte { return append([]byte{k.kind}, k.public...) }

func (k key) Name() string { return k.name }

func (k key) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte(k.name+"\n"), k.tagged()...))
	return binary.BigEndian.Uint32(sum[:])
}

func (k key) Sign(text []byte) ([]byte, error) {
	if k.kind == kindLog {
		return ed25519.Sign(k.private, text), nil
	}
	at := uint64(k.now().Unix())
	return append(binary.BigEndian.AppendUint64(nil, at), ed25519.Sign(k.private, cosigned(at, text))...), nil
}

func (k key) Verify(text, signature []byte) bool {
	if k.kind == kindLog {
		return ed25519.Verify(k.public, text, signature)
	}
	return len(signature) == cosignatureSize &&
		ed25519.Verify(k.public, cosigned(binary.BigEndian.Uint64(signature), text), signature[8:])
}

// cosigned returns the text that a witness signs.
func cosigned(at uint64, text []byte) []byte {
	return fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", at, text)
}

// signedAt returns when a witness made a signature, which has been verified and follows the hash of its key.
func signedAt(raw []byte) time.Time {
	return time.Unix(int64(binary.BigEndian.Uint64(raw[4:])), 0).UTC()
}

// proofForm matches a proof up to its checkpoint, by C2SP tlog-proof. Extra data, which Stoa's proofs do not have, is skipped.
var proofForm = regexp.MustCompile(`^c2sp\.org/tlog-proof@v1\n(?:extra .*\n)?index (0|[1-9][0-9]*)\n((?:[A-Za-z0-9+/=]+\n)*)\n`)

// ErrNotIncluded means that a proof does not show that an entry is in the log.
var ErrNotIncluded = errors.New("the proof does not show this entry in the log")

// ErrInconsistent means that one head of a log does not continue another.
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
	fmt.Fprintf(&b, "c2sp.org/tlog-proof@v1\nindex %d\n", p.Index)
	for _, hash := range p.Hashes {
		b.WriteString(base64.StdEncoding.EncodeToString(hash[:]) + "\n")
	}
	b.WriteByte('\n')
	b.Write(p.Checkpoint)
	return b.String()
}

// ParseProof reads a proof.
func ParseProof(text []byte) (p Proof, err error) {
	form := proofForm.FindSubmatch(text)
	if form == nil {
		return p, errors.New("it has not the form of a proof of C2SP (tlog-proof)")
	}
	p.Checkpoint = text[len(form[0]):]
	if p.Index, err = strconv.ParseInt(string(form[1]), 10, 64); err != nil {
		return p, err
	}
	p.Hashes, err = ParseHashes(strings.Fields(string(form[2])))
	return p, err
}

// maxHashes exceeds the number of hashes of any proof.
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
	if tlog.CheckRecord(hashes, head.Size, head.Root, index, tlog.RecordHash(entry.Bytes())) != nil {
		return ErrNotIncluded
	}
	return nil
}

// CheckConsistent checks that a newer head continues an older one of the same origin. It returns ErrInconsistent if not, also if
// the newer head is smaller.
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
