package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
)

// release is the version of this source: the newest section of CHANGELOG.md with a number.
const release = "0.2.0"

// version is set by the linker to the output of .ci/version: the release, and the commit if it is not the release itself.
var version string

type versionCommand struct{}

// Run prints one line.
func (versionCommand) Run(out io.Writer) error {
	_, err := fmt.Fprintf(out, "stoa %s %s %s/%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// versionText is the version after Semantic Versioning 2.0.0. A program that was built by hand names no commit.
func versionText() string { return cmp.Or(version, release+"+dev") }
