package operatorcli

import (
	"slices"
	"strings"
	"sync"

	"stoa/cmd/stoa/terminal"
)

// command is one command of the tree.
type command struct {
	// path is its words after `stoa operator`.
	path       string
	group      string
	help       string
	parameters []parameter
	run        func(d *deps, given map[string]any) error
}

// all are the commands: those of the schema, those that it has no word for, and the short names.
var all = sync.OnceValue(func() []command {
	made := slices.Concat(lists(), shows(), procedures(), special())
	for _, one := range shortNames {
		i := slices.IndexFunc(made, func(c command) bool { return c.path == one.of })
		short := made[i]
		short.path, short.group, short.parameters = one.name, "Short names", slices.Clone(short.parameters)
		for i := range short.parameters {
			short.parameters[i].positional = short.parameters[i].positional || slices.Contains(one.positional, short.parameters[i].field)
		}
		made = append(made, short)
	}
	return made
})

// find returns the command of a path that kong names.
func find(path string) (command, bool) {
	path = strings.TrimPrefix(path, "operator ")
	i := slices.IndexFunc(all(), func(c command) bool { return c.path == path })
	if i < 0 {
		return command{}, false
	}
	return all()[i], true
}

// tree makes the commands that kong reads.
func tree() any {
	commands := make([]terminal.Command, len(all()))
	for i, c := range all() {
		commands[i] = terminal.Command{Path: c.path, Group: c.group, Help: c.help, Default: slices.Contains(defaults, c.path)}
		for _, p := range c.parameters {
			commands[i].Parameters = append(commands[i].Parameters, terminal.Parameter{Name: p.name(), Type: p.kind(), Tag: p.tag()})
		}
	}
	return terminal.Tree(commands, nil)
}
