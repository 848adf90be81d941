package witness

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/rest/client/keylog"
)

const (
	// maxAttempts is how often one head is submitted to a witness that names another size each time, because other processes submit
	// too.
	maxAttempts = 3
	// maxAnswer is the most bytes of an answer that are read.
	maxAnswer = 16 << 10
)

var (
	// ErrAhead means that a witness has signed a larger head of the log than the submitted one: the log has lost entries, or another
	// process has submitted a newer head.
	ErrAhead = errors.New("the witness has signed a greater head of this log")
	// ErrForked means that the submitted head does not continue the head that a witness has signed.
	ErrForked = errors.New("the head does not continue the one that the witness has signed")
)

// Target is a witness to which a log submits.
type Target struct {
	// Key is its vkey.
	Key string
	// URL precedes /add-checkpoint in the addresses of its requests.
	URL string

	verifier note.Verifier
}

// ParseTargets reads witnesses, a vkey and a URL on each line. A comma may replace a line break, for one-line settings.
func ParseTargets(text string) ([]Target, error) {
	var targets []Target
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == ',' }) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 {
			return nil, errors.New("a witness is its vkey and its URL, with a space between")
		}
		verifier, err := keylog.ParseWitnessKey(words[0])
		if err != nil {
			return nil, err
		}
		address, err := url.Parse(words[1])
		if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" || address.RawQuery != "" {
			return nil, fmt.Errorf("%q is no URL of a witness, such as https://witness.example", words[1])
		}
		if slices.ContainsFunc(targets, func(t Target) bool { return t.Key == words[0] }) {
			return nil, fmt.Errorf("the witness %s is named twice", verifier.Name())
		}
		targets = append(targets, Target{words[0], strings.TrimRight(words[1], "/"), verifier})
	}
	return targets, nil
}

// Prove returns the proof that a log's tree of one size continues the tree of a smaller size.
type Prove func(ctx context.Context, old, size int64) ([]tlog.Hash, error)

// Answer is the answer of one witness.
type Answer struct {
	// Witness is the vkey of the witness.
	Witness string
	// Text is its line below a submitted head, without the line's end, or the last head that it signed. It is empty with an error, or
	// if the witness has signed no head.
	Text string
	// Err is ErrAhead, ErrForked, or the reason why nothing is known.
	Err error
}

// Differs reports whether the witness has a head that the submitted one does not continue.
func (a Answer) Differs() bool { return errors.Is(a.Err, ErrAhead) || errors.Is(a.Err, ErrForked) }

// Submitter submits the heads of a log to its witnesses. It is safe for concurrent use.
type Submitter struct {
	targets []Target
	timeout time.Duration
	client  http.Client

	sizes sync.Map // last size that each witness is known to have, an int64 by its vkey
}

// NewSubmitter makes a Submitter. It waits at most timeout for each witness.
func NewSubmitter(targets []Target, timeout time.Duration) *Submitter {
	return &Submitter{
		targets: targets, timeout: timeout,
		client: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Keys are the vkeys of the witnesses.
func (s *Submitter) Keys() []string {
	keys := make([]string, len(s.targets))
	for i, target := range s.targets {
		keys[i] = target.Key
	}
	return keys
}

// Submit submits a signed head to the witnesses with these vkeys in parallel. The returned lines are verified.
func (s *Submitter) Submit(ctx context.Context, to []string, signed []byte, prove Prove) []Answer {
	targets := slices.DeleteFunc(slices.Clone(s.targets), func(t Target) bool { return !slices.Contains(to, t.Key) })
	return s.ask(ctx, targets, func(ctx context.Context, target Target) (string, error) { return s.submit(ctx, target, signed, prove) })
}

// ask asks witnesses in parallel.
func (s *Submitter) ask(ctx context.Context, targets []Target, one func(context.Context, Target) (string, error)) []Answer {
	answers := make([]Answer, len(targets))
	var all sync.WaitGroup
	for i, target := range targets {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, s.timeout)
			defer cancel()
			text, err := one(ctx, target)
			if err != nil {
				err = fmt.Errorf("witness %s: %w", target.verifier.Name(), err)
			}
			answers[i] = Answer{target.Key, text, err}
		})
	}
	all.Wait()
	return answers
}

func (s *Submitter) submit(ctx context.Context, target Target, signed []byte, prove Prove) (line string, err error) {
	text, head, err := headOf(signed)
	if err != nil {
		return "", err
	}
	known, _ := s.sizes.Load(target.Key)
	old, _ := known.(int64)
	old = min(old, head.Size) // the witness answers with its size if that is larger
	for range maxAttempts {
		made := submission{old: old, checkpoint: signed}
		if 0 < old && old < head.Size {
			if made.hashes, err = prove(ctx, old, head.Size); err != nil {
				return "", err
			}
		}
		status, body, err := s.do(ctx, http.MethodPost, target.URL+"/add-checkpoint", made.body())
		if err != nil {
			return "", err
		}
		switch status {
		case http.StatusOK:
			if line, err = lineOf(target, text, body); err == nil {
				s.sizes.Store(target.Key, head.Size)
			}
			return line, err
		case http.StatusConflict:
			if old, err = parseSize(strings.TrimSuffix(string(body), "\n")); err != nil {
				return "", err
			}
			if old > head.Size {
				return "", fmt.Errorf("%w: of size %d, above %d", ErrAhead, old, head.Size)
			}
			s.sizes.Store(target.Key, old)
		case http.StatusUnprocessableEntity:
			return "", ErrForked
		default:
			return "", fmt.Errorf("it answered %d: %.200q", status, body)
		}
	}
	return "", errors.New("it names another size each time")
}

// lineOf returns the verified line of a witness for a text, from its answer.
func lineOf(target Target, text string, answer []byte) (string, error) {
	opened, err := note.Open(append([]byte(text+"\n"), answer...), note.VerifierList(target.verifier))
	if err != nil {
		return "", fmt.Errorf("its cosignature: %w", err)
	}
	return fmt.Sprintf("— %s %s", target.verifier.Name(), opened.Sigs[0].Base64), nil
}

func (s *Submitter) do(ctx context.Context, method, address string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, answer, err
}

// Heads asks all witnesses in parallel for the last head of a log that they signed. Returned
// heads are signed by a key of the log and by the witness. The vkeys are keys of the log and have its origin as their name.
func (s *Submitter) Heads(ctx context.Context, log []string) []Answer {
	return s.ask(ctx, s.targets, func(ctx context.Context, target Target) (string, error) { return s.head(ctx, target, log) })
}

func (s *Submitter) head(ctx context.Context, target Target, log []string) (string, error) {
	var keys []note.Verifier
	for _, vkey := range log {
		key, err := keylog.ParseLogKey(vkey)
		if err != nil {
			return "", err
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return "", errors.New("the log has no keys")
	}
	status, body, err := s.do(ctx, http.MethodGet, target.URL+"/"+hashOf(keys[0].Name())+"/checkpoint", nil)
	switch {
	case err != nil || status == http.StatusNotFound:
		return "", err
	case status != http.StatusOK:
		return "", fmt.Errorf("it answered %d: %.200q", status, body)
	}
	for _, key := range keys {
		head, failed := keylog.Open(body, key, target.verifier)
		if failed == nil && len(head.By) == 0 {
			failed = errors.New("it has not signed its head")
		}
		if err = failed; err == nil {
			return string(body), nil
		}
	}
	return "", err
}

const (
	// maxHashes is the most hashes of a submission.
	maxHashes = 63
	// maxSubmission is the size of a submission in bytes: hashes, text and many signatures.
	maxSubmission = 16 << 10
	// maxText is the largest text of a checkpoint, maxName the longest name of a log or witness, in bytes: so the state of a log
	// with two keys is below 1 KB.
	maxText, maxName = 384, 100
	// sizeType is the media type of an answer with the size of the witness's head.
	sizeType = "text/x.tlog.size"
)

// submission is a checkpoint with the proof that it continues a log from a size: the body of add-checkpoint.
type submission struct {
	old        int64
	hashes     []tlog.Hash
	checkpoint []byte // the signed note
}

func (s submission) body() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "old %d\n", s.old)
	for _, hash := range s.hashes {
		b.WriteString(base64.StdEncoding.EncodeToString(hash[:]) + "\n")
	}
	b.WriteByte('\n')
	b.Write(s.checkpoint)
	return b.Bytes()
}

func parseSubmission(body []byte) (submission, error) {
	head, checkpoint, found := bytes.Cut(body, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	number, isOld := strings.CutPrefix(lines[0], "old ")
	old, err := parseSize(number)
	if !found || !isOld || err != nil {
		return submission{}, errors.New("a submission begins with the line: old SIZE")
	}
	if lines = lines[1:]; len(lines) > maxHashes {
		return submission{}, fmt.Errorf("a submission has at most %d hashes", maxHashes)
	}
	hashes, err := keylog.ParseHashes(lines)
	return submission{old, hashes, checkpoint}, err
}

// parseSize reads a number as C2SP writes the size of a tree.
func parseSize(text string) (int64, error) {
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != text {
		return 0, fmt.Errorf("%q is no size of a tree", text)
	}
	return size, nil
}

// headOf reads a checkpoint without checking its signatures.
func headOf(signed []byte) (text string, head keylog.Checkpoint, err error) {
	_, err = note.Open(signed, note.VerifierList())
	unverified, isNote := errors.AsType[*note.UnverifiedNoteError](err)
	if !isNote {
		return "", keylog.Checkpoint{}, errors.New("the checkpoint is no signed note")
	}
	text = unverified.Note.Text
	if len(text) > maxText || strings.Contains(text, "\n\n") {
		return "", keylog.Checkpoint{}, fmt.Errorf("the text of a checkpoint has at most %d bytes, and no empty lines", maxText)
	}
	head, err = keylog.ParseCheckpoint(text)
	return text, head, err
}
