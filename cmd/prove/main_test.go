package main

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// The flags of a run with faults need no command, and each other command has its own.
func TestCommands(t *testing.T) {
	t.Parallel()
	const program = "--server=/bin/true"
	parse := func(line []string) (*kong.Context, error) {
		parser, err := kong.New(new(commands), options()...)
		require.NoError(t, err)
		return parser.Parse(line)
	}
	for command, line := range map[string][]string{
		"faults":       {"--minutes", "3", "--failover", program},
		"judge <file>": {"judge", "main.go"},
		"self-test":    {"self-test", "--bugs", "event-lost,order-role", "--share", "2", "--parts", "4", program},
	} {
		chosen, err := parse(line)
		require.NoError(t, err, command)
		require.Equal(t, command, chosen.Command())
	}
	for _, refused := range [][]string{
		{"judge"}, {"judge", "none.json"}, {"self-test", "--share", "3", "--parts", "2", program}, {"self-test", "--bugs", "none-of-them", program},
	} {
		_, err := parse(refused)
		require.Error(t, err, refused)
	}
}
