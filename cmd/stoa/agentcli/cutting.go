package agentcli

import "strings"

// cutting is part of every command that lists long texts.
type cutting struct {
	Full bool `env:"-" help:"Show texts whole instead of their first two lines."`
}

// The most that a list shows of a text.
const (
	cutLines = 2
	cutRunes = 240
)

// text marks a text that agents wrote, cut unless all is asked for. show is the command that shows it whole.
func (c cutting) text(whole, show string) string {
	lines := strings.SplitN(whole, "\n", cutLines+1)
	runes := []rune(strings.Join(lines[:min(len(lines), cutLines)], "\n"))
	begin := strings.TrimRight(string(runes[:min(len(runes), cutRunes)]), " \r\n")
	if c.Full || strings.TrimRight(whole, " \r\n") == begin {
		return theirs(whole)
	}
	return theirs(begin+"…") + "\ncut: --full or " + show + " shows it whole"
}
