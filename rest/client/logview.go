package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// Errors of the checks of the server's key log (§12.3). Each is a *Fault as well.
var (
	// ErrUnproven means that the log does not prove the key that the server names for an agent.
	ErrUnproven = errors.New("the key log does not prove the agent's key")
	// ErrLogForked means that the log does not continue the kept head: it has shrunk, was rewritten, or is signed by another key.
	// Both checkpoints are kept beside the trust file.
	ErrLogForked = errors.New("the key log is not the one that was seen before")
	// ErrEpoch means that the server has restarted its log, for example after it restored a backup. Pinned agents stay pinned.
	ErrEpoch = errors.New("the key log was begun anew")
	// ErrLabelTwice means that the log has two entries for one handle.
	ErrLabelTwice = errors.New("the key log has two entries for one handle")
	// ErrOwnKey means that the log has a key for this agent that is not its own.
	ErrOwnKey = errors.New("the key log has another key for this agent than its own")
	// ErrFingerprint means that an agent's key does not have the expected fingerprint.
	ErrFingerprint = errors.New("the fingerprints differ")
)

// alarms lists the errors that prove that the server, or a proxy before it, lies.
var alarms = []error{ErrLogForked, ErrLabelTwice, ErrOwnKey}

// Alarm reports whether an error shows that the key log lies. A person should then look at it.
func Alarm(err error) bool {
	return slices.ContainsFunc(alarms, func(alarm error) bool { return errors.Is(err, alarm) })
}

// Checks are the settings of the checks of a key log. The zero value has the defaults.
type Checks struct {
	// LogKey is the vkey of the log, if the operator has published it elsewhere. If it is empty, the first key that the server names
	// is kept. If it is set, a server without a log proves nothing.
	LogKey string
	// Witnesses lists the vkeys of known witnesses. A head proves something only if at least Quorum of them have signed it.
	Witnesses []string
	Quorum    int
	// AllowUnproven pins an agent whose key is not proven, as ViaFirstUse.
	AllowUnproven bool
	// Patience is how long to wait for a missing proof: 0 for 10 s. An agent's entry is written after its registration.
	Patience time.Duration
}

const (
	patience      = 10 * time.Second
	patiencePause = 500 * time.Millisecond
)

// KeyLog checks the key log of a server against the heads in a trust file. It is safe for concurrent use, and several programs
// may share its files.
type KeyLog struct {
	client *Client
	trust  *Trust
	// folder holds the entries that Audit has read.
	folder    string
	checks    Checks
	logKey    note.Verifier // of checks.LogKey, nil for none
	witnesses []note.Verifier

	mu sync.Mutex
}

// OpenKeyLog opens a file with the heads of a server's log, without an agent, for programs that watch any log.
func OpenKeyLog(file, origin string, options Options) (*KeyLog, error) {
	trust, err := OpenTrust(file)
	if err != nil {
		return nil, err
	}
	return newKeyLog(New(origin, options), trust, file+".watch")
}

func newKeyLog(c *Client, trust *Trust, folder string) (l *KeyLog, err error) {
	l = &KeyLog{client: c, trust: trust, folder: folder, checks: c.options.Checks}
	l.checks.Patience = cmp.Or(l.checks.Patience, patience)
	if l.checks.LogKey != "" {
		if l.logKey, err = keylog.ParseLogKey(l.checks.LogKey); err != nil {
			return nil, err
		}
	}
	for i, vkey := range l.checks.Witnesses {
		witness, err := keylog.ParseWitnessKey(vkey)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(l.witnesses, func(other note.Verifier) bool { return other.Name() == witness.Name() }) {
			return nil, fmt.Errorf("the witness %d, %s, is named twice", i+1, witness.Name())
		}
		l.witnesses = append(l.witnesses, witness)
	}
	if l.checks.Quorum > len(l.witnesses) {
		return nil, fmt.Errorf("the quorum is %d, but %d witnesses are named", l.checks.Quorum, len(l.witnesses))
	}
	return l, nil
}

// publishedLog is the member log of /.well-known/stoa-keys.json.
type publishedLog struct {
	Origin    string   `json:"origin"`
	Vkeys     []string `json:"vkeys"`
	Witnesses []string `json:"witnesses"`
	Epochs    []struct {
		keylog.Checkpoint

		Reason string `json:"reason"`
	} `json:"epochs"`
}

const keysPath = "/.well-known/stoa-keys.json"

// published reads what the server publishes about its log, beside what is kept of it. Origin is empty if the server has no log.
func (l *KeyLog) published(ctx context.Context) (*logView, error) {
	kept, err := l.trust.log()
	if err != nil {
		return nil, err
	}
	v := &logView{kept: kept}
	body, err := l.read(ctx, v, keysPath)
	v.said = string(body)
	if errors.Is(err, errAbsent) {
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	keys := struct {
		Log *publishedLog `json:"log"`
	}{&v.publishedLog}
	if err := json.Unmarshal(body, &keys); err != nil {
		return nil, fmt.Errorf("%s: %w", keysPath, err)
	}
	host, epoch, _ := keylog.HostOf(v.Origin) // a wrong origin has no log below its path
	v.host, v.path = host, fmt.Sprintf("/log/%d/", epoch)
	return v, nil
}

// logView is the log as the server publishes it now, with the key that is trusted.
type logView struct {
	publishedLog

	// said is the whole answer.
	said string
	kept keptLog
	// host and path follow from the origin, such as stoa.example and /log/1/.
	host, path string
	vkey       string
	key        note.Verifier
}

// view reads the server's publication about the log, nil if it has none and never had one.
func (l *KeyLog) view(ctx context.Context) (*logView, error) {
	v, err := l.published(ctx)
	if err != nil {
		return nil, err
	}
	kept := v.kept
	switch {
	case v.Origin == "" && kept.origin != "":
		return nil, l.forked(kept.newest().Note, v.said, "it had a key log, and now says that it has none")
	case v.Origin == "" && (l.checks.LogKey != "" || l.checks.Quorum > 0):
		return nil, unproven("the server has no key log")
	case v.Origin == "":
		return nil, nil //nolint:nilnil // there is nothing to check
	case kept.origin == "":
		return v, l.firstKey(v)
	case kept.origin != v.Origin:
		return nil, l.otherOrigin(v)
	}
	if err := v.believe(kept.vkey); err != nil {
		return nil, err
	}
	next := cmp.Or(append(v.Vkeys, kept.vkey)...)
	if l.logKey != nil && !kept.rotated && !keylog.Public(l.logKey).Equal(keylog.Public(v.key)) {
		next = keylog.LogKey(v.Origin, keylog.Public(l.logKey)) // the operator may have replaced the key
		if !slices.Contains(v.Vkeys, next) {
			return nil, l.forked(kept.newest().Note, l.checks.LogKey, "the key of the log that was kept is another than the one that you gave")
		}
	}
	if next != kept.vkey {
		return v, l.rotate(ctx, v, next)
	}
	return v, nil
}

func (v *logView) believe(vkey string) (err error) {
	v.vkey = vkey
	v.key, err = keylog.ParseLogKey(vkey)
	if err == nil && v.key.Name() != v.Origin {
		err = fmt.Errorf("the vkey %s is not of the log %s", vkey, v.Origin)
	}
	return err
}

// firstKey trusts a key of a log that was not seen before: the configured key, or the first that the server names.
func (l *KeyLog) firstKey(v *logView) error {
	vkey := cmp.Or(v.Vkeys...)
	if l.logKey != nil {
		if host, _, err := keylog.HostOf(l.logKey.Name()); err != nil || host != v.host {
			return unproven("the server's log is %s, and the key that you gave is of %s", v.Origin, l.logKey.Name())
		}
		vkey = keylog.LogKey(v.Origin, keylog.Public(l.logKey)) // a later epoch has the same key
	}
	if err := v.believe(vkey); err != nil {
		return unproven("%s", err)
	}
	return nil
}

// otherOrigin returns the error for a log whose name is not the kept one.
func (l *KeyLog) otherOrigin(v *logView) error {
	newest := v.kept.newest()
	was, before, err := keylog.HostOf(v.kept.origin)
	is, now, failed := keylog.HostOf(v.Origin)
	if err != nil || failed != nil || was != is || now < before {
		return l.forked(newest.Note, v.said, fmt.Sprintf("it is now called %q instead of %q", v.Origin, v.kept.origin))
	}
	text := fmt.Sprintf("%s has followed %s", v.Origin, v.kept.origin)
	for _, ended := range v.Epochs {
		if ended.Origin == v.kept.origin {
			text = fmt.Sprintf("%s has followed %s, which ended with %d entries (%s); %d were seen", v.Origin,
				v.kept.origin, ended.Size, ended.Reason, newest.Size)
		}
	}
	return refuse(ErrEpoch, http.StatusConflict, "log_epoch", "%s. Keys that are pinned stay so. Ask the operator why, and then: "+
		"stoa agent accept-epoch", text)
}

// errAbsent means that the server answers not found, as for an index beyond the head of its log.
var errAbsent = errors.New("the server does not show it")

func (l *KeyLog) read(ctx context.Context, v *logView, path string) ([]byte, error) {
	answer, err := l.client.get(ctx, v.path+path)
	if answer == nil {
		return nil, err
	}
	if answer.Status == http.StatusNotFound {
		err = fmt.Errorf("%s of the key log: %w", path, errAbsent)
	}
	return answer.Body, err
}

func unproven(format string, args ...any) error {
	return refuse(ErrUnproven, http.StatusConflict, "key_unproven", format, args...)
}

// maxEvidence is the most evidence files beside one trust file, so that a server cannot fill the disk.
const maxEvidence = 40

// forked saves the kept checkpoint and the server's answer as evidence, and returns ErrLogForked. The same evidence is saved
// once.
func (l *KeyLog) forked(kept, served, why string) error {
	sum := sha256.Sum256([]byte(kept + "\n" + served))
	name := l.trust.file.path + ".fork." + hex.EncodeToString(sum[:4])
	text := "both are kept in " + name + ".kept and .served"
	beside, _ := os.ReadDir(filepath.Dir(name)) // a folder that cannot be read takes no evidence
	others := slices.DeleteFunc(beside, func(e os.DirEntry) bool {
		return !strings.HasPrefix(e.Name(), filepath.Base(l.trust.file.path)+".fork.")
	})
	if len(others) >= maxEvidence {
		text = "evidence from before is kept in " + l.trust.file.path + ".fork.*"
	} else if err := errors.Join(durable.WriteFile(name+".kept", []byte(kept)), durable.WriteFile(name+".served", []byte(served))); err != nil {
		text = "they could not be kept: " + err.Error()
	}
	return refuse(ErrLogForked, http.StatusConflict, "log_forked", "%s; %s. The server, or someone before it, shows different logs to "+
		"different agents; no further agent's key is believed. Show both to others who use this server", strings.TrimSpace(why), text)
}
