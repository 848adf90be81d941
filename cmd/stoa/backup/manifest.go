package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// The parts of a backup.
const (
	manifestFile = "manifest.json"
	databaseFile = "database.dump"
	filesFolder  = "files"
	keyFile      = "secret.key"
)

// Manifest says what a backup holds.
type Manifest struct {
	// Name of the backup's folder.
	Name string `json:"name"`
	// MadeAt is when it was begun: it holds the database as it was then.
	MadeAt time.Time `json:"made_at"`
	// Version of the program that made it.
	Version string `json:"version"`
	// DatabaseBytes and DatabaseSHA256 (lower-case hexadecimal) are of the database's file.
	DatabaseBytes  int64  `json:"database_bytes"`
	DatabaseSHA256 string `json:"database_sha256"`
	// Files and FilesBytes count the files of the file store.
	Files      int64 `json:"files"`
	FilesBytes int64 `json:"files_bytes"`
	// Generation is the name of the first of the backups that this one shares files with; its own where it shares none. Empty
	// in backups of earlier versions, as is ChecksumsSHA256, the checksum of the list of checksums.
	Generation      string `json:"generation,omitempty"`
	ChecksumsSHA256 string `json:"checksums_sha256,omitempty"`
	// Empty says that the database holds no agent.
	Empty bool `json:"empty,omitempty"`
	// KeyFingerprint is of the installation's key that the database belongs to; empty in backups of earlier versions. HasKey says
	// that the backup holds that key.
	KeyFingerprint string `json:"key_fingerprint,omitempty"`
	HasKey         bool   `json:"has_key,omitempty"`
}

// SizeBytes returns the size of the whole backup.
func (m Manifest) SizeBytes() int64 { return m.DatabaseBytes + m.FilesBytes }

func readManifest(folder string) (Manifest, error) {
	var m Manifest
	text, err := os.ReadFile(filepath.Join(folder, manifestFile))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Join(folder, manifestFile), err)
	}
	m.Name = filepath.Base(folder) // it may have been renamed
	return m, nil
}

func (m Manifest) write(folder string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, manifestFile), append(text, '\n'), 0o600)
}

// digest returns the size and the SHA-256 of a file.
func digest(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	return size, hex.EncodeToString(sum.Sum(nil)), err
}
