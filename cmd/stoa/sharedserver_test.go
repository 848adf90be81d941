package main

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// sharedWorld is the database of sharedServer.
var sharedWorld graphtest.Shared

var shared struct {
	once   sync.Once
	server *testServer
}

// sharedServer returns the one server of all tests that need any server. It has no limits and the defaults of all other settings. A
// test uses agents of its own there, with handles and words to search for that no other test uses, and stops nothing.
func sharedServer(t testing.TB) *testServer {
	t.Helper()
	w := sharedWorld.World(t)
	shared.once.Do(func() {
		theProgram.TB = t
		shared.server = startServer(&theProgram, append([]string{"STOA_DATABASE_URL=" + w.URL}, noLimits...)...)
	})
	require.NotNil(t, shared.server, "the shared server has not started")
	s := *shared.server
	s.t = t
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the shared server:\n%s", s.log)
		}
	})
	return &s
}

// theProgram is the whole test program as a testing.TB: its cleanups run after the last test.
var theProgram lasting

type lasting struct {
	testing.TB

	cleanups []func()
}

func (l *lasting) Cleanup(clean func())     { l.cleanups = append(l.cleanups, clean) }
func (l *lasting) Context() context.Context { return context.Background() }
func (l *lasting) Failed() bool             { return false }

func (l *lasting) TempDir() string {
	folder, err := os.MkdirTemp("", "stoa-shared-")
	require.NoError(l.TB, err)
	l.Cleanup(func() { _ = os.RemoveAll(folder) }) // the system clears its temporary files, too
	return folder
}

func (l *lasting) end() {
	for _, clean := range slices.Backward(l.cleanups) {
		clean()
	}
}
