package main

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// parse reads a command line that names an existing program.
func parse(t *testing.T, line ...string) (chosen string, c *commands, err error) {
	t.Helper()
	c = new(commands)
	parser, err := kong.New(c, options()...)
	require.NoError(t, err)
	parsed, err := parser.Parse(line)
	if err != nil {
		return "", c, err
	}
	return parsed.Command(), c, nil
}

// The flags of a run with faults need no command, and each other command has its own.
func TestCommands(t *testing.T) {
	t.Parallel()
	const program = "--server=/bin/true"
	for command, line := range map[string][]string{
		"faults":       {"--minutes", "3", "--failover", program},
		"judge <file>": {"judge", "main.go"},
		"self-test":    {"self-test", "--bugs", "event-lost,order-role", "--share", "1/2", "--no-without", program},
	} {
		chosen, _, err := parse(t, line...)
		require.NoError(t, err, command)
		require.Equal(t, command, chosen)
	}
	for _, refused := range [][]string{
		{"judge"}, {"judge", "none.json"}, {"self-test", "--share", "3/2", program},
	} {
		_, _, err := parse(t, refused...)
		require.Error(t, err, refused)
	}
}

// A result has a title, and names the command that makes it again.
func TestResultsOfFaults(t *testing.T) {
	t.Parallel()
	for title, line := range map[string][]string{
		"Faults":                   {"--clocks"},
		"Failover of the database": {"--failover"},
		"Servers of two versions":  {"--older=/bin/echo"},
	} {
		_, c, err := parse(t, append(line, "--minutes=3", "--seed=7", "--server=/bin/true")...)
		require.NoError(t, err)
		require.Equal(t, title, c.Faults.title())
		if c.Faults.Older != "" {
			continue // its command has the older program's version
		}
		text, err := c.Faults.text(t.Context())
		require.NoError(t, err)
		require.Equal(t, "make prove PROVEFLAGS='--minutes 3 --processes 3 --agents 24 --faults all --seed 7 "+line[0]+"'", text)
	}
	_, c, err := parse(t, "self-test", "--bugs=event-lost", "--share=1/2", "--server=/bin/true")
	require.NoError(t, err)
	require.Contains(t, c.SelfTest.text(), "self-test --bugs event-lost --share 1/2 --minutes 1 --seed 1 --tries 2 --processes 3 --agents 16 --faults ")
}
