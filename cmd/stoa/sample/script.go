package sample

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"stoa/rest/client"
)

// act is a step of agents. It returns sentences about its result, one a line.
type act func(context.Context) string

// failure is the panic with which an act ends early, so that an act of ten requests needs no ten branches. attempt returns it.
type failure struct{ error }

// attempt runs a part of a script and returns its failure.
func attempt(part func()) (err error) {
	defer func() {
		if failed, ok := recovered(recover()); ok {
			err = failed.error
		}
	}()
	part()
	return nil
}

// recovered returns the failure of an act, and panics on with anything else.
func recovered(cause any) (failed failure, ok bool) {
	if failed, ok = cause.(failure); cause != nil && !ok {
		panic(cause)
	}
	return failed, ok
}

// aboutf is deferred: it adds the attempted step to a failure.
func aboutf(format string, args ...any) {
	if failed, ok := recovered(recover()); ok {
		panic(failure{fmt.Errorf(format+": %w", append(args, failed.error)...)})
	}
}

// check ends the act with an error.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](result T, err error) T {
	check(err)
	return result
}

func expect[T comparable](what string, got, want T) {
	if got != want {
		check(fmt.Errorf("%s is %v instead of %v", what, got, want))
	}
}

var errAccepted = errors.New("it was accepted")

// refused requires err to be a refusal with that status and code.
func refused(what string, err error, status int, code string) {
	fault, ok := errors.AsType[*client.Fault](err)
	if !ok || fault.Code != code || fault.Status != status {
		check(fmt.Errorf("%s should be refused with %d %s, but: %w", what, status, code, cmp.Or(err, errAccepted)))
	}
}

// perform carries out acts one after the other, until the first that fails, and calls done with the result of each.
func perform(ctx context.Context, acts []act, done func(said string)) error {
	return attempt(func() {
		for _, act := range acts {
			done(act(ctx))
		}
	})
}

type chapter struct {
	title string
	acts  []act
}

// tell prints the chapters and carries out their acts; it returns the first error. Each line of an act is a step.
func tell(ctx context.Context, out io.Writer, chapters []chapter) error {
	steps := 0
	for _, chapter := range chapters {
		_, _ = fmt.Fprintf(out, "\n%s\n", chapter.title) // the story goes on if its output is not read
		err := perform(ctx, chapter.acts, func(said string) {
			for line := range strings.SplitSeq(said, "\n") {
				steps++
				_, _ = fmt.Fprintf(out, "%3d. %s\n", steps, line)
			}
		})
		if err != nil {
			return fmt.Errorf("%s: after step %d: %w", chapter.title, steps, err)
		}
	}
	_, _ = fmt.Fprintln(out, "\nAll checks passed.")
	return nil
}
