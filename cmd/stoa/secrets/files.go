package secrets

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// fileSuffix ends the variable that names the file of another one.
const fileSuffix = "_FILE"

// FileVariables returns the variables that name a file of a secret, one for each variable that may hold one.
func FileVariables() []string {
	names := make([]string, len(variables))
	for i, v := range variables {
		names[i] = v.name + fileSuffix
	}
	return names
}

// maxFile is the longest secret of a file in bytes.
const maxFile = 16 << 10

// ReadFiles sets the variables of secrets from the files that FileVariables name, as containers hand secrets over. Line ends at the end
// of a file do not count. A variable that is set too, and a file that cannot be read or holds nothing, are errors:
// a server without its setting would start with another database. Call it before the settings are read.
func ReadFiles() error {
	for _, named := range FileVariables() {
		name, path := strings.TrimSuffix(named, fileSuffix), os.Getenv(named)
		if path == "" {
			continue
		}
		if os.Getenv(name) != "" {
			return fmt.Errorf("%s and %s are both set; unset one", name, named)
		}
		value, err := readFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", named, err)
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("%s: %w", named, err)
		}
	}
	return nil
}

// Other returns the other variable of the same setting: NAME_FILE for NAME, and NAME for NAME_FILE.
func Other(name string) string {
	if without, isFile := strings.CutSuffix(name, fileSuffix); isFile {
		return without
	}
	return name + fileSuffix
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
