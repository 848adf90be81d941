package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stoa/graph/email"
)

// secretSettings say where the installation's key is, by which codes and links are derived.
type secretSettings struct {
	SecretKeyFile string `help:"File of the installation's key, 32 bytes in base64; empty: made at the first start, in the data folder."`
}

// secretKeyFile is in the data folder, mode 0600.
const secretKeyFile = "secret.key"

// secretKey returns the installation's key: that of the file that was set, or else that of the data folder, which is made where
// there is none. Processes that share the folder share the key.
func (s secretSettings) secretKey(dataDir string) ([]byte, error) {
	path := s.SecretKeyFile
	if path == "" {
		path = filepath.Join(dataDir, secretKeyFile)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if err := makeSecret(path, base64.StdEncoding); err != nil {
				return nil, err
			}
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the installation's key: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(kept)))
	if err != nil || len(key) != email.KeySize {
		return nil, fmt.Errorf("%s must hold %d bytes in base64; make them with: openssl rand -base64 %d", path, email.KeySize, email.KeySize)
	}
	return key, nil
}
