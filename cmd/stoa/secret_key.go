package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stoa/cmd/stoa/secrets"
	"stoa/graph/email"
	"stoa/graph/platform/db"
	"stoa/rest/client/durable"
)

// secretKeyFile is in the data folder, mode 0600.
const secretKeyFile = "secret.key"

// othersMode are the permissions that a file with a secret must not have: all permissions of its group and of others.
const othersMode = 0o077

func (s secretSettings) keyPath(dataDir string) string {
	if s.SecretKeyFile != "" {
		return s.SecretKeyFile
	}
	return filepath.Join(dataDir, secretKeyFile)
}

// readKey returns the installation's key. Its error wraps fs.ErrNotExist if there is no file. It refuses a file that others may
// read or write.
func (s secretSettings) readKey(dataDir string) ([]byte, error) {
	path := s.keyPath(dataDir)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the installation's key: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the installation's key: %w", err)
	}
	if mode := info.Mode().Perm(); mode&othersMode != 0 {
		return nil, fmt.Errorf("the installation's key is open to others: %s has mode %04o; close it (chmod 600); if others may have"+
			" read it, remove it and make another with stoa key accept", path, mode)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != email.KeySize {
		return nil, fmt.Errorf("%s must hold %d bytes in base64; make them with: openssl rand -base64 %d", path, email.KeySize, email.KeySize)
	}
	return key, nil
}

// knownKey is readKey, and returns nil if there is no file.
func (s secretSettings) knownKey(dataDir string) ([]byte, error) {
	key, err := s.readKey(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // the caller looks for nil
	}
	return key, err
}

// readOrMakeKey is readKey, and makes the key if the data folder has none and no other file was named.
func (s secretSettings) readOrMakeKey(dataDir string) ([]byte, error) {
	key, err := s.readKey(dataDir)
	if s.SecretKeyFile != "" || !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeSecret(s.keyPath(dataDir), base64.StdEncoding); err != nil {
		return nil, err
	}
	return s.readKey(dataDir)
}

// checkKey refuses an invalid key before files and database are opened. A missing key is made later unless its file was named.
func (s secretSettings) checkKey(dataDir string) error {
	_, err := s.readKey(dataDir)
	if s.SecretKeyFile == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// claimKey returns the installation's key, which must be the key of the database. A database without a key gets this one; a
// missing key is made only for such a database. Processes that share the data folder share the key.
func (s secretSettings) claimKey(ctx context.Context, dataDir string, pool *sql.DB) ([]byte, error) {
	recorded, err := secrets.Recorded(ctx, pool)
	if err != nil {
		return nil, explainDatabaseError(err)
	}
	path := s.keyPath(dataDir)
	if _, err := os.Stat(path); recorded != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the installation's key is missing: the database belongs to the key %s, and there is no %s; %s",
			recorded, path, keyAdvice)
	}
	key, err := s.readOrMakeKey(dataDir)
	if err != nil {
		return nil, err
	}
	own := secrets.Fingerprint(key)
	if recorded == "" {
		if recorded, err = secrets.Record(ctx, pool, own); err != nil {
			return nil, explainDatabaseError(err)
		}
	}
	if recorded != own {
		return nil, fmt.Errorf("the installation's key is another one: the database belongs to the key %s, and %s holds %s; %s",
			recorded, path, own, keyAdvice)
	}
	return key, nil
}

// keyAdvice is advice about a key that does not belong to the database.
const keyAdvice = secrets.Consequences + ". Put the right key there: it is in the data folder of the installation's other" +
	" processes, in secret.key of a backup made with --with-key, or where --secret-key-file led before. To go on with another key" +
	" all the same: stoa key accept"

// putKey replaces the installation's key; the old one stays beside it, in a file named by its fingerprint.
func (s secretSettings) putKey(dataDir string, key []byte) error {
	path := s.keyPath(dataDir)
	before, err := s.knownKey(dataDir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil { // with an object store nothing else makes a data folder
		return err
	}
	if before != nil {
		short := strings.NewReplacer("SHA256:", "", "/", "_", "+", "-").Replace(secrets.Fingerprint(before))
		if err := os.Link(path, path+"."+short[:8]); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return durable.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(key)+"\n"))
}

// keyCommand is about the key from which codes, links, secrets and signatures are derived (docs/running.md).
type keyCommand struct {
	Show   keyShowCommand   `cmd:"" default:"withargs" help:"Print the fingerprints of the installation's key and of the one that the database belongs to; exits 1 if they differ."`
	Accept keyAcceptCommand `cmd:"" help:"Let the database belong to the installation's key from now on, and make one if there is none."`
}

// keySettings are the settings of commands that compare the key with the database.
type keySettings struct {
	databaseSettings
	secretSettings
	logSettings
}

// withDatabase calls act with a pool. A private cluster runs only during the call.
func (s *keySettings) withDatabase(act func(context.Context, *sql.DB) error) error {
	return s.databaseSettings.withDatabase(s.logger(os.Stderr), func(ctx context.Context, address string) error {
		return db.UsePlain(s.directURL(address), func(pool *sql.DB) error { return act(ctx, pool) })
	})
}

type keyShowCommand struct{ keySettings }

// Run prints two lines, and returns an error unless they are the same.
func (c *keyShowCommand) Run(out io.Writer) error {
	return c.withDatabase(func(ctx context.Context, pool *sql.DB) error {
		recorded, err := secrets.Recorded(ctx, pool)
		if err != nil {
			return explainDatabaseError(err)
		}
		key, err := c.knownKey(c.DataDir)
		if err != nil {
			return err
		}
		own := ""
		if key != nil {
			own = secrets.Fingerprint(key)
		}
		fmt.Fprintf(out, "database  %s\nkey       %s\n", cmp.Or(recorded, "none yet"), cmp.Or(own, "none in "+c.keyPath(c.DataDir)))
		if recorded != "" && recorded != own {
			return errors.New("the database belongs to another key; " + keyAdvice)
		}
		return nil
	})
}

type keyAcceptCommand struct{ keySettings }

// Run records the fingerprint. Running servers keep the key that they have read.
func (c *keyAcceptCommand) Run(out io.Writer) error {
	return c.withDatabase(func(ctx context.Context, pool *sql.DB) error {
		key, err := c.readOrMakeKey(c.DataDir)
		if err != nil {
			return err
		}
		own := secrets.Fingerprint(key)
		if err := secrets.Replace(ctx, pool, own); err != nil {
			return explainDatabaseError(err)
		}
		_, err = fmt.Fprintf(out, "The database belongs to the key %s; start every server again.\n", own)
		return err
	})
}

// minOperatorToken is the minimum length of a token. Wrong guesses are slowed down but lock no operator out, so a token must be
// too long to guess.
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
	_, _ = rand.Read(secret) // it never fails
	draft := path + "." + rand.Text()
	defer os.Remove(draft)
	if err := durable.WriteFile(draft, []byte(encoding.EncodeToString(secret)+"\n")); err != nil {
		return err
	}
	if err := os.Link(draft, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
