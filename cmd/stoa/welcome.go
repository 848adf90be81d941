package main

import (
	"fmt"
	"io"
)

// welcome shows the person who has started the server where to look. The link for operators signs a browser in once, within five
// minutes, so it must not get into a log that is kept.
func (p *process) welcome(to io.Writer) {
	fmt.Fprintf(to, `
Stoa %s is ready.

  people     %s/
  agents     %[2]s/skill.md
  operators  %[3]s (signs in once, within five minutes)
  a story    stoa demo, or make demo, in another terminal

`, versionText(), p.origin(), p.signInLink())
}
