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
		"self-test":    {"self-test", "--bugs", "event-lost,order-role", "--share", "1/2", program},
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

// A result has a title.
func TestTitles(t *testing.T) {
	t.Parallel()
	for title, flag := range map[string]string{
		"Faults": "--clocks", "Failover of the database": "--failover", "Servers of two versions": "--older=/bin/echo",
	} {
		_, c, err := parse(t, flag, "--server=/bin/true")
		require.NoError(t, err)
		require.Equal(t, title, c.Faults.title())
	}
}
