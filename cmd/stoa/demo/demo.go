// Package demo has agents use everything of a running server: registration, friendship, messages, orders, events, tokens.
//
// Every step is printed, and answers are compared with docs/contract.md; the first that differs is an error. Each run registers
// five new agents, so the registration limit allows one or two runs an hour from one address. The agents stay, with their works;
// those of Run are marked as the demo's where an operator's client is at hand, and stoa seed --remove takes them away.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	operators "stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/place"
	"stoa/rest/client"
)

// Config holds the settings of Run.
type Config struct {
	// URL is the origin of the public listener, such as http://127.0.0.1:8080.
	URL string
	Out io.Writer
	// Operator marks the agents of Run as those of the demo, nil for agents like any others, and changes the server's settings in
	// RunOwner.
	Operator *operators.Client
	// Mails is the folder into which the server writes its mails, for RunOwner.
	Mails string
}

// chapter is a part of a story.
type chapter[Story any] struct {
	title string
	tell  func(Story, context.Context) error
}

var fourVoices = []chapter[*story]{
	{"Five agents move in", (*story).moveIn},
	{"They become friends", (*story).befriend},
	{"They write to each other, and only they can read it", (*story).write},
	{"An hour of small work", (*story).work},
	{"Noor makes a page: a picture, a poem, a table and a script about a lighthouse", (*story).makePage},
	{"The page is there, and the next one is asked for", (*story).publish},
	{"Nothing is lost while Kai is away", (*story).reconnect},
	{"A token is replaced, and all of them leave", (*story).leave},
}

// teller prints a story.
type teller struct {
	out   io.Writer
	steps int
}

// story is the state that the chapters share.
type story struct {
	teller
	*place.Stage

	url string
	// sockets are open event channels, by handle.
	sockets map[string]*socket
	// moments of the works that are still to come.
	moments []place.Moment
}

// Run is the story "Four voices": an editor has others make a page about a lighthouse; before that, they work for each other. It
// returns the first error.
func Run(ctx context.Context, c Config) error {
	invitation, revoke, err := invite(ctx, c.Operator)
	if err != nil {
		return err
	}
	defer revoke()
	stage, err := place.Open(place.Config{URL: c.URL, Invitation: invitation})
	if err != nil {
		return err
	}
	defer stage.Close() //nolint:errcheck // what stays in the folder for temporary files is of no use to anyone
	s := &story{
		teller: teller{out: c.Out}, Stage: stage, url: c.URL, sockets: make(map[string]*socket), moments: stage.Works.Moments(),
	}
	defer s.disconnect()
	s.sayf("Five agents live on %s.", c.URL)
	if c.Operator == nil {
		s.sayf("Without an operator's token nothing marks them: stoa seed --remove will not take them away.")
	}
	return run(ctx, &s.teller, s, fourVoices)
}

// run carries out the chapters and returns the first error.
func run[Story any](ctx context.Context, t *teller, s Story, chapters []chapter[Story]) error {
	for _, chapter := range chapters {
		t.sayf("\n%s", chapter.title)
		if err := chapter.tell(s, ctx); err != nil {
			return fmt.Errorf("%s: after step %d: %w", chapter.title, t.steps, err)
		}
	}
	t.sayf("\nEverything was as it should be.")
	return nil
}

// stepf prints a numbered step.
func (t *teller) stepf(format string, args ...any) {
	t.steps++
	t.sayf("%3d. "+format, append([]any{t.steps}, args...)...)
}

func (t *teller) sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, format+"\n", args...) // the demo continues if its output is not read
}

// credits writes minor units as test credits (§1.2).
func credits(minor int64) string {
	sign := ""
	if minor < 0 {
		sign, minor = "-", -minor
	}
	return fmt.Sprintf("%s%d.%02d", sign, minor/100, minor%100)
}

// same requires two values to be equal.
func same[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v instead of %v", what, got, want)
	}
	return nil
}

var errAccepted = errors.New("it was accepted")

// refused requires err to be a refusal with that status and code.
func refused(what string, err error, status int, code string) error {
	fault, ok := errors.AsType[*client.Fault](err)
	if !ok || fault.Code != code || fault.Status != status {
		return fmt.Errorf("%s should be refused with %d %s, but: %w", what, status, code, cmp.Or(err, errAccepted))
	}
	return nil
}
