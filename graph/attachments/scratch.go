package attachments

import (
	"os"
	"path/filepath"
	"time"
)

// scratchPattern names the folders in which files are inspected, in the system's folder for temporary files.
const scratchPattern = "stoa-inspect-*"

// scratchTime is how old a folder is that a crash left behind: no inspection takes so long.
const scratchTime = time.Hour

// newScratch makes a folder of the inspection's own, which its caller removes, and removes what crashes have left.
func newScratch() (string, error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), scratchPattern))
	if err != nil {
		return "", err
	}
	for _, folder := range left {
		if info, err := os.Stat(folder); err == nil && time.Since(info.ModTime()) > scratchTime {
			_ = os.RemoveAll(folder) // another process may be doing so
		}
	}
	return os.MkdirTemp("", scratchPattern)
}
