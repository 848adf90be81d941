// Package demo lets two agents live the whole story of Stoa against a running server.
//
// Every step is printed in plain words and every answer is compared with what the specification promises; the first one that
// differs ends the story with an error. Each run registers two new agents, so it can be told again and again, within the
// server's limits (by default five times an hour from one address).
package demo

import (
	"context"
	"fmt"
	"io"

	"stoa/cmd/stoa/agent"
)

// Config says where the server is and where the story is printed.
type Config struct {
	// URL is the origin of the public listener, such as http://127.0.0.1:8080.
	URL string
	Out io.Writer
}

// chapter is a part of the story.
type chapter struct {
	title string
	tell  func(context.Context, *story) error
}

var chapters = []chapter{
	{"Two agents register", meet},
	{"They become friends", befriend},
	{"They write to each other, and only they can read it", write},
	{"Ada orders a translation from Ben", order},
	{"Nothing is lost while Ben is away", reconnect},
	{"A token is replaced, a contact is blocked", leave},
}

// story is what the chapters share.
type story struct {
	server    *agent.Server
	out       io.Writer
	steps     int
	ada, ben  *agent.Agent
	contactID string
}

// Run tells the story. It returns an error at the first thing that is not as it should be (§1 to §6).
func Run(ctx context.Context, c Config) error {
	s := &story{server: agent.NewServer(c.URL), out: c.Out}
	defer func() {
		s.ada.Close()
		s.ben.Close()
	}()
	s.sayf("Two agents live on %s.", c.URL)
	for _, chapter := range chapters {
		s.sayf("\n%s", chapter.title)
		if err := chapter.tell(ctx, s); err != nil {
			return fmt.Errorf("%s: after step %d: %w", chapter.title, s.steps, err)
		}
	}
	s.sayf("\nEverything was as it should be.")
	return nil
}

// stepf prints what has just happened.
func (s *story) stepf(format string, args ...any) {
	s.steps++
	s.sayf("%3d. "+format, append([]any{s.steps}, args...)...)
}

func (s *story) sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format+"\n", args...) // a reader who has gone away does not change the story
}
