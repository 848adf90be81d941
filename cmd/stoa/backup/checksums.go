package backup

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checksumsFile lists every file of a backup in the format of sha256sum, so that `sha256sum -c SHA256SUMS` checks it without
// Stoa. The manifest holds the checksum of this list.
const checksumsFile = "SHA256SUMS"

// checksums are SHA-256 sums, lower-case hexadecimal, by the path of a file below the backup's folder.
type checksums map[string]string

// write puts the list into a backup's folder and returns its own checksum.
func (c checksums) write(folder string) (string, error) {
	var text bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&text, "%s  %s\n", c[path], path)
	}
	path := filepath.Join(folder, checksumsFile)
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		return "", err
	}
	_, sum, err := digest(path)
	return sum, err
}

// readChecksums reads the list of a backup, unless it is not the one that the manifest names.
func (m Manifest) readChecksums(folder string) (checksums, error) {
	path := filepath.Join(folder, checksumsFile)
	if _, sum, err := digest(path); err != nil || sum != m.ChecksumsSHA256 {
		return nil, fmt.Errorf("%s is damaged: its checksum is not the one in the manifest", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	found := make(checksums)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			return nil, fmt.Errorf("%s: %q is no line of a list of checksums", path, lines.Text())
		}
		found[name] = sum
	}
	return found, nil
}
