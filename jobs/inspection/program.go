package inspection

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Program is the name of the program that is the child. It lies in the folder of the server's program.
const Program = "stoa-inspect"

// program returns the path of the child's program.
var program = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return openProgram(self)
})

// openProgram opens the program beside another one and returns a path that leads to it for as long as this process lives: a server goes
// on with the version that it was started with, whatever an upgrade puts in its place.
func openProgram(beside string) (string, error) {
	file, err := os.Open(filepath.Join(filepath.Dir(beside), Program))
	if err != nil {
		return "", fmt.Errorf("%s, the program that inspects files, must lie beside %s: %w", Program, filepath.Base(beside), err)
	}
	opened.Store(file, true)
	return fmt.Sprintf("/proc/self/fd/%d", file.Fd()), nil
}

// opened keeps programs open: the runtime closes a file that nothing refers to.
var opened sync.Map

// FindProgram returns an error if the child's program is missing. A server that inspects files calls it first.
func FindProgram() error {
	_, err := program()
	return err
}

// UseProgram makes path the child's program, for tests whose binary is its own child. Call it before anything else.
func UseProgram(path string) { program = func() (string, error) { return path, nil } }
