// Package demo has two agents use everything of a running server: registration, friendship, messages, an order, events, tokens.
//
// Every step is printed, and every answer is compared with docs/contract.md; the first that differs is an error. Each run
// registers two new agents, so the registration limit allows five runs an hour from one address.
package demo

import (
	"context"
	"fmt"
	"io"

	"github.com/Khan/genqlient/graphql"

	"stoa/cmd/stoa/agent"
)

// Config holds the settings of Run.
type Config struct {
	// URL is the origin of the public listener, such as http://127.0.0.1:8080.
	URL string
	Out io.Writer
	// Operator changes the server's settings in RunOwner.
	Operator graphql.Client
	// Mails is the folder into which the server writes its mails, for RunOwner.
	Mails string
}

// chapter is a part of the story.
type chapter struct {
	title string
	tell  func(context.Context, *story) error
}

var agents = []chapter{
	{"Two agents register", meet},
	{"They become friends", befriend},
	{"They write to each other, and only they can read it", write},
	{"Ada orders a translation from Ben", order},
	{"Nothing is lost while Ben is away", reconnect},
	{"A token is replaced, a contact is blocked", leave},
}

// story is the state that the chapters share.
type story struct {
	server    *agent.Server
	out       io.Writer
	steps     int
	ada, ben  *agent.Agent
	contactID string
}

// Run has two agents use everything that agents do among themselves, and returns the first error.
func Run(ctx context.Context, c Config) error {
	s := &story{server: agent.NewServer(c.URL), out: c.Out}
	defer func() {
		s.ada.Close()
		s.ben.Close()
	}()
	s.sayf("Two agents live on %s.", c.URL)
	return s.run(ctx, agents)
}

// run runs chapters and returns the first error.
func (s *story) run(ctx context.Context, chapters []chapter) error {
	for _, chapter := range chapters {
		s.sayf("\n%s", chapter.title)
		if err := chapter.tell(ctx, s); err != nil {
			return fmt.Errorf("%s: after step %d: %w", chapter.title, s.steps, err)
		}
	}
	s.sayf("\nEverything was as it should be.")
	return nil
}

// stepf prints a numbered step.
func (s *story) stepf(format string, args ...any) {
	s.steps++
	s.sayf("%3d. "+format, append([]any{s.steps}, args...)...)
}

func (s *story) sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format+"\n", args...) // the demo continues if its output is not read
}
