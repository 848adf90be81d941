// Package witness has both sides of C2SP tlog-witness. A witness (New) signs a head of a log only if it continues the head that it
// signed before; a Submitter submits the heads of a log to its witnesses. So a log can show different trees to different people
// only with the help of its witnesses (docs/contract.md §12.4).
package witness

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"stoa/rest/client/durable"
	"stoa/rest/client/keylog"
)

// Config has the logs for which a witness signs, and its key.
type Config struct {
	// Logs lists the keys of the logs. Keys with the same name belong to one log.
	Logs []note.Verifier
	// Signer signs; keylog.NewWitnessSigner makes it.
	Signer note.Signer
	// Folder has one file for each log with its last signed head. No other process may use the folder at the same time.
	Folder string
	// Logger receives heads that do not continue their log; such a head and the stored state prove that the log lies.
	Logger *slog.Logger
}

type witness struct {
	config Config
	logs   map[string]*witnessed // by the hash of the origin
}

type witnessed struct {
	origin string
	keys   []note.Verifier
	file   string

	mu   sync.Mutex
	head keylog.Checkpoint // the last signed head; of size 0 before the first
	// signed is the signed head; nil before the first.
	signed []byte
}

func hashOf(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:])
}

// New reads the state of each log. It returns an error if a state is invalid, so that no signed head is forgotten. The handler
// answers POST /add-checkpoint and GET /{SHA-256 of the origin in hex}/checkpoint. It is safe for concurrent use.
func New(c Config) (http.Handler, error) {
	w := &witness{config: c, logs: make(map[string]*witnessed)}
	for _, key := range c.Logs {
		name := hashOf(key.Name())
		log := w.logs[name]
		if log == nil {
			log = &witnessed{origin: key.Name(), file: filepath.Join(c.Folder, name)}
			w.logs[name] = log
		}
		if !slices.ContainsFunc(log.keys, func(k note.Verifier) bool { return k.KeyHash() == key.KeyHash() }) { // no duplicates
			log.keys = append(log.keys, key)
		}
	}
	for _, log := range w.logs {
		if err := log.load(); err != nil {
			return nil, fmt.Errorf("the state of %s in %s: %w", log.origin, log.file, err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", w.addCheckpoint)
	mux.HandleFunc("GET /{origin}/checkpoint", w.checkpoint)
	return mux, nil
}

func (l *witnessed) load() error {
	signed, err := os.ReadFile(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, head, err := headOf(signed)
	if err == nil && head.Origin != l.origin {
		err = errors.New("it is of the log " + head.Origin)
	}
	if err == nil {
		_, err = note.Open(signed, note.VerifierList(l.keys...))
	}
	l.head, l.signed = head, signed
	return err
}

const plain = "text/plain; charset=utf-8"

func (w *witness) addCheckpoint(answer http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(answer, r.Body, maxSubmission))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			http.Error(answer, fmt.Sprintf("a submission has at most %d bytes", maxSubmission), http.StatusRequestEntityTooLarge)
			return
		}
		http.Error(answer, "the submission did not arrive", http.StatusBadRequest)
		return
	}
	kind := plain
	switch status, text := w.cosign(r.Context(), body); status {
	case http.StatusConflict:
		kind = sizeType
		fallthrough
	case http.StatusOK:
		answer.Header().Set("Content-Type", kind)
		answer.WriteHeader(status)
		_, _ = io.WriteString(answer, text)
	default:
		http.Error(answer, text, status)
	}
}

// cosign checks a submission, in the order of C2SP. The text is the witness's line after the head is stored, the size that the
// witness has (409), or the reason.
func (w *witness) cosign(ctx context.Context, body []byte) (status int, text string) {
	s, err := parseSubmission(body)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	said, head, err := headOf(s.checkpoint)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	log := w.logs[hashOf(head.Origin)]
	if log == nil {
		return http.StatusNotFound, "this witness does not know the log " + head.Origin
	}
	opened, err := note.Open(s.checkpoint, note.VerifierList(log.keys...))
	if err != nil {
		return http.StatusForbidden, keylog.ErrUnsigned.Error()
	}
	if s.old > head.Size {
		return http.StatusBadRequest, "the old size is above the checkpoint's"
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if s.old != log.head.Size {
		return http.StatusConflict, fmt.Sprintln(log.head.Size)
	}
	if err := log.continues(s, head); err != nil {
		w.config.Logger.WarnContext(ctx, "a head does not continue its log", "reason", err.Error(), "submission", string(body))
		return http.StatusUnprocessableEntity, err.Error()
	}
	signed, err := note.Sign(&note.Note{Text: said, Sigs: opened.Sigs}, w.config.Signer) // after the log's lines that were verified
	if err == nil {
		err = durable.WriteFile(log.file, signed)
	}
	if err != nil {
		w.config.Logger.ErrorContext(ctx, "a head was not signed", "error", err)
		return http.StatusInternalServerError, "the state of the log could not be stored"
	}
	log.head, log.signed = head, signed
	return http.StatusOK, string(signed[bytes.LastIndex(signed, []byte("— ")):])
}

var emptyRoot = sha256.Sum256(nil)

// continues checks that a head continues the last head, whose size is the submission's old size.
func (l *witnessed) continues(s submission, head keylog.Checkpoint) error {
	if (s.old == 0 || s.old == head.Size) && len(s.hashes) > 0 {
		return errors.New("a proof is there that proves nothing")
	}
	if head.Size == 0 && head.Root != emptyRoot {
		return errors.New("the root is not the root of an empty tree")
	}
	before := l.head
	before.Origin = head.Origin
	if s.old == 0 {
		before.Root = emptyRoot
	}
	return keylog.CheckConsistent(before, head, s.hashes)
}

func (w *witness) checkpoint(answer http.ResponseWriter, r *http.Request) {
	var signed []byte
	if log := w.logs[r.PathValue("origin")]; log != nil {
		log.mu.Lock()
		signed = log.signed
		log.mu.Unlock()
	}
	if signed == nil {
		http.NotFound(answer, r)
		return
	}
	answer.Header().Set("Content-Type", plain)
	answer.Header().Set("Cache-Control", "no-cache")
	_, _ = answer.Write(signed)
}

// A private key in a file has the form of signed notes: PRIVATE+KEY+NAME+HASH+KEY, whose KEY begins with the kind for witnesses.
const (
	keyPrefix       = "PRIVATE+KEY+"
	kindCosignature = 4
)

var errKeyFile = errors.New("it holds no private key of a witness: " + keyPrefix + "NAME+HASH+KEY")

// OpenKey reads the key file of a witness, or creates it with mode 0600 and a new key of that name. It returns signer and vkey.
func OpenKey(path, name string) (signer note.Signer, vkey string, err error) {
	raw, err := os.ReadFile(path)
	text := strings.TrimSpace(string(raw))
	if errors.Is(err, fs.ErrNotExist) {
		_, private, _ := ed25519.GenerateKey(nil) // it never fails
		if text, err = keyText(name, private); err == nil {
			err = durable.WriteFile(path, []byte(text+"\n"))
		}
	}
	if err != nil {
		return nil, "", err
	}
	parts := strings.SplitN(strings.TrimPrefix(text, keyPrefix), "+", 3)
	seed, err := base64.StdEncoding.Strict().DecodeString(parts[len(parts)-1])
	if err == nil && len(parts) == 3 && len(seed) == 1+ed25519.SeedSize {
		private := ed25519.NewKeyFromSeed(seed[1:])
		if whole, failed := keyText(parts[0], private); failed == nil && whole == text {
			public, _ := private.Public().(ed25519.PublicKey)
			signer, err = keylog.NewWitnessSigner(parts[0], private, time.Now)
			return signer, keylog.WitnessKey(parts[0], public), err
		}
	}
	return nil, "", fmt.Errorf("%s: %w", path, errKeyFile)
}

func keyText(name string, private ed25519.PrivateKey) (string, error) {
	signer, err := keylog.NewWitnessSigner(name, private, time.Now)
	if err == nil && len(name) > maxName {
		err = fmt.Errorf("the name of a witness has at most %d bytes", maxName)
	}
	if err != nil {
		return "", err
	}
	tagged := base64.StdEncoding.EncodeToString(append([]byte{kindCosignature}, private.Seed()...))
	return fmt.Sprintf("%s%s+%08x+%s", keyPrefix, name, signer.KeyHash(), tagged), nil
}

// ParseLogs reads the keys of logs, one vkey a line. Empty lines and lines that begin with # are ignored.
func ParseLogs(text string) (logs []note.Verifier, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		log, err := keylog.ParseLogKey(line)
		if err != nil {
			return nil, err
		}
		if len(log.Name()) > maxName {
			return nil, fmt.Errorf("the name of a log has at most %d bytes", maxName)
		}
		logs = append(logs, log)
	}
	if len(logs) == 0 {
		err = errors.New("no log is named: a vkey a line")
	}
	return logs, err
}
