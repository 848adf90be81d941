package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version is set by the linker; a binary that was built without falls back to what Go recorded.
var version string

type versionCommand struct{}

// Run prints one line.
func (versionCommand) Run(out io.Writer) error {
	_, err := fmt.Fprintf(out, "stoa %s %s %s/%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

func versionText() string {
	recorded := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		recorded = info.Main.Version
	}
	return cmp.Or(version, recorded, "unknown")
}
