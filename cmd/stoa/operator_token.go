package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// minOperatorToken is the least length of a token. Guesses are slowed down but never lock anybody out, so a token must be too
// long to be guessed.
const minOperatorToken = 32

// Validate refuses a token that checkToken refuses.
func (s operatorSettings) Validate() error {
	if s.OperatorToken == "" {
		return nil
	}
	return checkToken(s.OperatorToken, "--operator-token")
}

// checkToken refuses a token that is too short or cannot be sent in an Authorization header. The error does not repeat the token.
func checkToken(token, source string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%s may hold only ASCII letters, digits and signs, no white space", source)
	}
	if len(token) < minOperatorToken {
		return fmt.Errorf("%s has %d characters and must have at least %d, so that it cannot be guessed;"+
			" make one with: openssl rand -hex 32", source, len(token), minOperatorToken)
	}
	return nil
}

// operatorTokenFile is in the data folder, mode 0600.
const operatorTokenFile = "operator.token"

// tokenSource names the source of the operators' token: the settings or a file.
func (s operatorSettings) tokenSource(dataDir string) string {
	if s.OperatorToken != "" {
		return "as set"
	}
	return filepath.Join(dataDir, operatorTokenFile)
}

// token returns the configured token of the installation, or else the token in the data folder. It makes a missing one.
// Processes that share the folder share the token.
func (s operatorSettings) token(dataDir string) (string, error) {
	if s.OperatorToken != "" {
		return s.OperatorToken, nil
	}
	path := filepath.Join(dataDir, operatorTokenFile)
	kept, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeSecret(path, base64.RawURLEncoding); err != nil {
			return "", err
		}
		kept, err = os.ReadFile(path)
	}
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(kept))
	if token == "" {
		return "", fmt.Errorf("%s is empty: remove it, so that a token is made, or write one into it", path)
	}
	return token, checkToken(token, path)
}

// makeSecret writes 32 random bytes to path in one step. If another process was faster, its secret stays.
func makeSecret(path string, encoding *base64.Encoding) error {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)                                                  // it never fails
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, err = fmt.Fprintln(draft, encoding.EncodeToString(secret))
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
