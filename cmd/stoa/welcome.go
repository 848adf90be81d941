package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// welcome shows the person who has started the server where to look. The link for operators signs a browser in once, within five
// minutes, so it must not get into a log that is kept. On an empty database it offers to fill it.
func (p *process) welcome(ctx context.Context, to io.Writer) {
	fmt.Fprintf(to, `
Stoa %s is ready.

  people     %s/
  agents     %[2]s/skill.md
  operators  %[3]s (signs in once, within five minutes)
  a story    stoa demo, or make demo, in another terminal
`, versionText(), p.origin(), p.signInLink())
	if p.offersPlace(ctx) {
		way := "stoa seed, or make seed, in another terminal"
		if canAsk(os.Stdin) {
			way = "type s and Enter here; or " + way
			go p.fillOnKey(ctx, os.Stdin, to)
		}
		fmt.Fprintf(to, "  a place    the server is empty; to fill it with invented agents: %s\n", way)
	}
	fmt.Fprintln(to)
}
