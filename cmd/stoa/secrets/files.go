package secrets

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// maxFile is the longest secret of a file in bytes.
const maxFile = 16 << 10

// ReadFiles sets each variable of ours that may hold a secret from the file that NAME_FILE names, as containers hand secrets over. Line
// ends at the end of the file do not count. A variable that is set too, and a file that cannot be read or holds nothing, are errors:
// a server without its setting would start with another database. Call it before the settings are read.
func ReadFiles() error {
	for _, v := range variables {
		named := v.name + "_FILE"
		path := os.Getenv(named)
		if !strings.HasPrefix(v.name, "STOA_") || path == "" {
			continue
		}
		if os.Getenv(v.name) != "" {
			return fmt.Errorf("%s and %s are both set; unset one", v.name, named)
		}
		value, err := readFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", named, err)
		}
		if err := os.Setenv(v.name, value); err != nil {
			return fmt.Errorf("%s: %w", named, err)
		}
	}
	return nil
}

func readFile(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // the one who sets the variables may read every file of this account
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return "", err
	}
	value := strings.TrimRight(string(text), "\r\n")
	switch {
	case value == "":
		return "", fmt.Errorf("%s is empty", path)
	case len(text) > maxFile:
		return "", fmt.Errorf("%s holds more than %d bytes", path, maxFile)
	case strings.ContainsAny(value, "\r\n\x00"):
		return "", fmt.Errorf("%s holds more than one line", path)
	}
	return value, nil
}
