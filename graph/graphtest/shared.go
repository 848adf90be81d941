package graphtest

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// TB holds the methods of a test that a world needs. A testing.TB has them, and so has the whole test program.
type TB interface {
	Helper()
	Cleanup(done func())
	Failed() bool
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	FailNow()
	Logf(format string, args ...any)
	TempDir() string
}

// Shared is a world that many tests of a package use. It is for tests that do not move the clock, set limits or read rows of
// other tests' agents. TestMain closes it. The zero value is ready; it is safe for concurrent use.
type Shared struct {
	// Setup prepares the world before its first use; nil for nothing.
	Setup func(*World)

	once    sync.Once
	world   *World
	program program
}

// World returns the world, whose helpers fail t.
func (s *Shared) World(t testing.TB) *World {
	t.Helper()
	s.once.Do(func() {
		s.world = newWorld(&s.program)
		if s.Setup != nil {
			s.Setup(s.world)
		}
	})
	if s.world == nil {
		t.Fatal("the shared world could not be made")
	}
	mine := *s.world
	mine.t = t
	return &mine
}

// Close drops the world after the last test.
func (s *Shared) Close() {
	for _, clean := range slices.Backward(s.program.cleanups) {
		clean()
	}
}

// program is the test program as a TB: cleanups run at its end, and a failure ends it.
type program struct{ cleanups []func() }

func (p *program) Helper()                           {}
func (p *program) Cleanup(clean func())              { p.cleanups = append(p.cleanups, clean) }
func (p *program) Failed() bool                      { return false }
func (p *program) Error(args ...any)                 { panic(fmt.Sprint(args...)) }
func (p *program) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (p *program) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (p *program) FailNow()                          { panic("a shared world failed") }
func (p *program) Logf(string, ...any)               {}

func (p *program) TempDir() string {
	folder, err := os.MkdirTemp("", "stoa-test")
	if err != nil {
		panic(err)
	}
	p.Cleanup(func() { _ = os.RemoveAll(folder) }) // the system clears its temporary files, too
	return folder
}
