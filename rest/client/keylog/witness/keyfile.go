package witness

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"stoa/rest/client/keylog"
)

// keyPrefix begins a private key in a file, as in signed notes: PRIVATE+KEY+NAME+HASH+KEY.
const keyPrefix = "PRIVATE+KEY+"

// kindCosignature is the kind of the key of a witness, its first byte.
const kindCosignature = 4

// OpenKey reads the key file of a witness, or makes it, of mode 0600, with a new key of that name. It returns the signer and the
// vkey.
func OpenKey(path, name string) (signer note.Signer, vkey string, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = makeKey(path, name)
	}
	if err != nil {
		return nil, "", err
	}
	private, name, err := parseKey(strings.TrimSpace(string(raw)))
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	public, _ := private.Public().(ed25519.PublicKey)
	signer, err = keylog.NewWitnessSigner(name, private, time.Now)
	return signer, keylog.WitnessKey(name, public), err
}

func makeKey(path, name string) ([]byte, error) {
	if len(name) > maxName {
		return nil, fmt.Errorf("the name of a witness has at most %d bytes", maxName)
	}
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	signer, err := keylog.NewWitnessSigner(name, private, time.Now)
	if err != nil {
		return nil, err
	}
	tagged := append([]byte{kindCosignature}, private.Seed()...)
	text := fmt.Appendf(nil, "%s%s+%08x+%s\n", keyPrefix, name, signer.KeyHash(), base64.StdEncoding.EncodeToString(tagged))
	return text, writeFile(path, text)
}

var errKeyFile = errors.New("it holds no private key of a witness: " + keyPrefix + "NAME+HASH+KEY")

func parseKey(text string) (private ed25519.PrivateKey, name string, err error) {
	rest, isKey := strings.CutPrefix(text, keyPrefix)
	parts := strings.SplitN(rest, "+", 3)
	if !isKey || len(parts) != 3 {
		return nil, "", errKeyFile
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(parts[2])
	if err != nil || len(raw) != 1+ed25519.SeedSize || raw[0] != kindCosignature {
		return nil, "", errKeyFile
	}
	private, name = ed25519.NewKeyFromSeed(raw[1:]), parts[0]
	signer, err := keylog.NewWitnessSigner(name, private, time.Now)
	if err != nil || len(name) > maxName || fmt.Sprintf("%08x", signer.KeyHash()) != parts[1] {
		return nil, "", errKeyFile
	}
	return private, name, nil
}

// ParseLogs reads the keys of logs: a vkey a line. Empty lines, and those that begin with #, say nothing.
func ParseLogs(text string) ([]note.Verifier, error) {
	var logs []note.Verifier
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
		return nil, errors.New("no log is named: a vkey a line")
	}
	return logs, nil
}
