// Package witness has both sides of C2SP tlog-witness. A Witness signs the heads of logs, each only if it continues the one that
// it signed before; a Submitter takes the heads of a log to its witnesses. So a log cannot show different trees to different people
// unless its witnesses help (docs/contract.md §12.4).
package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"

	"stoa/rest/client/keylog"
)

// Config says for which logs a witness signs, and as what.
type Config struct {
	// Logs are the keys of the logs. Several keys with one name are of one log.
	Logs []note.Verifier
	// Signer signs; keylog.NewWitnessSigner makes it.
	Signer note.Signer
	// Folder holds the last signed head of each log, a file a log. No other process may use it at the same time.
	Folder string
	// Logger receives heads that do not continue their log: together with the state they prove that the log lies.
	Logger *slog.Logger
}

// Witness is the HTTP handler of a witness. It is safe for concurrent use.
type Witness struct {
	config Config
	mux    http.ServeMux
	logs   map[string]*witnessed // by origin
	hashes map[string]*witnessed // by the hash of the origin
}

// witnessed is a log for which a witness signs.
type witnessed struct {
	origin string
	keys   []note.Verifier
	file   string

	mu   sync.Mutex
	head keylog.Checkpoint // the last that was signed; of size 0 before the first
	// signed is the head as it was signed; nil before the first.
	signed []byte
}

// New reads the state of each log. It returns an error if a state is not sound, rather than forget what was signed.
func New(c Config) (*Witness, error) {
	w := &Witness{config: c, logs: make(map[string]*witnessed), hashes: make(map[string]*witnessed)}
	for _, key := range c.Logs {
		origin := key.Name()
		log := w.logs[origin]
		if log == nil {
			sum := sha256.Sum256([]byte(origin))
			name := hex.EncodeToString(sum[:])
			log = &witnessed{origin: origin, file: filepath.Join(c.Folder, name)}
			w.logs[origin], w.hashes[name] = log, log
		}
		log.addKey(key)
	}
	for _, log := range w.logs {
		if err := log.load(); err != nil {
			return nil, fmt.Errorf("the state of %s in %s: %w", log.origin, log.file, err)
		}
	}
	w.mux.HandleFunc("POST /add-checkpoint", w.addCheckpoint)
	w.mux.HandleFunc("GET /{origin}/checkpoint", w.checkpoint)
	return w, nil
}

// addKey adds a key unless it is there: note takes two alike for ambiguous.
func (l *witnessed) addKey(key note.Verifier) {
	for _, known := range l.keys {
		if known.KeyHash() == key.KeyHash() {
			return
		}
	}
	l.keys = append(l.keys, key)
}

// ServeHTTP answers POST /add-checkpoint and GET /{SHA-256 of the origin in hex}/checkpoint.
func (w *Witness) ServeHTTP(answer http.ResponseWriter, r *http.Request) { w.mux.ServeHTTP(answer, r) }

// refusal is an answer other than 200. It implements error.
type refusal struct {
	status int
	reason string
	size   int64 // what the witness knows, with 409
}

func (r *refusal) Error() string { return r.reason }

func refuse(status int, reason string) error { return &refusal{status: status, reason: reason} }

func (w *Witness) addCheckpoint(answer http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(answer, r.Body, maxSubmission))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			http.Error(answer, fmt.Sprintf("a submission has at most %d bytes", maxSubmission), http.StatusRequestEntityTooLarge)
			return
		}
		http.Error(answer, "the submission did not arrive", http.StatusBadRequest)
		return
	}
	line, err := w.cosign(body)
	refused, isRefusal := errors.AsType[*refusal](err)
	switch {
	case err == nil:
		answer.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(answer, line)
	case !isRefusal:
		w.config.Logger.ErrorContext(r.Context(), "a head was not signed", "error", err)
		http.Error(answer, "the state of the log could not be stored", http.StatusInternalServerError)
	case refused.status == http.StatusConflict:
		answer.Header().Set("Content-Type", sizeType)
		answer.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprintf(answer, "%d\n", refused.size)
	default:
		if refused.status == http.StatusUnprocessableEntity {
			w.config.Logger.WarnContext(r.Context(), "a head does not continue its log",
				"reason", refused.reason, "submission", string(body))
		}
		http.Error(answer, refused.reason, refused.status)
	}
}

// cosign checks a submission, in the order of C2SP, and returns the line of the witness once the head is stored.
func (w *Witness) cosign(body []byte) (line string, err error) {
	s, err := parseSubmission(body)
	if err != nil {
		return "", refuse(http.StatusBadRequest, err.Error())
	}
	text, head, err := headOf(s.checkpoint)
	if err != nil {
		return "", refuse(http.StatusBadRequest, err.Error())
	}
	log := w.logs[head.Origin]
	if log == nil {
		return "", refuse(http.StatusNotFound, "this witness does not know the log "+head.Origin)
	}
	opened, err := note.Open(s.checkpoint, note.VerifierList(log.keys...))
	if err != nil {
		return "", refuse(http.StatusForbidden, keylog.ErrUnsigned.Error())
	}
	if s.old > head.Size {
		return "", refuse(http.StatusBadRequest, "the old size is above that of the checkpoint")
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if s.old != log.head.Size {
		return "", &refusal{http.StatusConflict, "the witness knows another size", log.head.Size}
	}
	if err := log.continues(s, head); err != nil {
		return "", refuse(http.StatusUnprocessableEntity, err.Error())
	}
	cosigned, err := note.Sign(&note.Note{Text: text}, w.config.Signer)
	if err != nil {
		return "", err
	}
	line = strings.TrimPrefix(string(cosigned), text+"\n")
	signed, err := note.Sign(&note.Note{Text: text, Sigs: opened.Sigs}) // the log's lines that were verified
	if err != nil {
		return "", err
	}
	signed = append(signed, line...)
	if err := writeFile(log.file, signed); err != nil {
		return "", err
	}
	log.head, log.signed = head, signed
	return line, nil
}

// emptyRoot is the root of a tree without leaves.
var emptyRoot = sha256.Sum256(nil)

// continues checks that a head continues the last one, whose size is the old size of the submission.
func (l *witnessed) continues(s submission, head keylog.Checkpoint) error {
	if s.old == 0 || s.old == head.Size {
		if len(s.hashes) > 0 {
			return errors.New("a proof is there that proves nothing")
		}
	}
	if head.Size == 0 && head.Root != emptyRoot {
		return errors.New("the root is not that of an empty tree")
	}
	before := l.head
	before.Origin = head.Origin
	if s.old == 0 {
		before.Root = emptyRoot
	}
	return keylog.CheckConsistent(before, head, s.hashes)
}

func (w *Witness) checkpoint(answer http.ResponseWriter, r *http.Request) {
	log := w.hashes[r.PathValue("origin")]
	if log == nil {
		http.NotFound(answer, r)
		return
	}
	log.mu.Lock()
	signed := log.signed
	log.mu.Unlock()
	if signed == nil {
		http.NotFound(answer, r)
		return
	}
	answer.Header().Set("Content-Type", "text/plain; charset=utf-8")
	answer.Header().Set("Cache-Control", "no-cache")
	_, _ = answer.Write(signed)
}

// load reads the last signed head of a log.
func (l *witnessed) load() error {
	signed, err := os.ReadFile(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, head, err := headOf(signed)
	if err != nil {
		return err
	}
	if head.Origin != l.origin {
		return errors.New("it is of the log " + head.Origin)
	}
	if _, err := note.Open(signed, note.VerifierList(l.keys...)); err != nil {
		return err
	}
	l.head, l.signed = head, signed
	return nil
}

// writeFile writes a file of mode 0600 as a whole and has it on disk when it returns: a crash leaves the file of before or the new
// one.
func writeFile(path string, content []byte) error {
	draft, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Rename(draft.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
