package main

import (
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"stoa/jobs/inspection"
	"stoa/rest/resttest"
)

// testProgram is the binary under test, with the child's program beside it. The go command links them again only if a source has
// changed.
const testProgram = "../../bin/test/stoa"

// parallelTests bounds the tests that run at once, and with them the servers. More take as long on two cores, and make each other late.
const parallelTests = "4"

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(parallelTests) // it is a number
	}
	// Without debug information, which halves the time of the link. Like an installed package it has a file of settings, in the
	// folder in which it runs.
	flags := "-ldflags=-s -w -X main.environmentFile=" + packagedFile
	detector := fmt.Sprintf("-race=%t", detectsRaces())
	child := filepath.Join(filepath.Dir(testProgram), inspection.Program)
	for _, build := range [][]string{{flags, detector, "-o", testProgram, "."}, {flags, "-o", child, "../inspect"}} {
		if out, err := exec.Command("go", append([]string{"build"}, build...)...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			os.Exit(1)
		}
	}
	if err := makeSharedKey(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := resttest.Main(m, resttest.Mixed)
	theProgram.end()
	sharedWorld.Close()
	_ = os.RemoveAll(templateFolder)
	_ = os.RemoveAll(filepath.Dir(sharedKey))
	os.Exit(code)
}

// detectsRaces reports whether the tests run with the race detector; the servers that they start have it too then.
func detectsRaces() bool {
	build, _ := debug.ReadBuildInfo()
	return slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// packagedFile is the environmentFile of the binary under test.
const packagedFile = "packaged.env"

// sharedKey is the file of the installation's key of all servers on a database that a test has made, whose data folders differ.
var sharedKey string

func makeSharedKey() error {
	folder, err := os.MkdirTemp("", "stoa-key-")
	if err != nil {
		return err
	}
	sharedKey = filepath.Join(folder, secretKeyFile)
	return makeSecret(sharedKey, base64.StdEncoding)
}

// nightly skips t with -short: it runs every night.
func nightly(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs every night, without -short")
	}
}

// noLimits switches every limit off.
var noLimits = []string{
	"STOA_LIMIT_MUTATIONS_PER_MINUTE=0", "STOA_LIMIT_CONTACT_REQUESTS_PER_MINUTE=0", "STOA_LIMIT_MESSAGES_PER_MINUTE=0",
	"STOA_LIMIT_REGISTRATIONS_PER_ADDRESS_PER_HOUR=0", "STOA_LIMIT_REGISTRATIONS_PER_HOUR=0",
	"STOA_LIMIT_REQUESTS_PER_ADDRESS_PER_SECOND=0", "STOA_LIMIT_TEXT_BYTES=0", "STOA_LIMIT_TEXT_BYTES_PER_DAY=0",
}
