package operatorcli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
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

// tree returns a pointer to a struct from which kong reads all commands.
func tree() any { return reflect.New(branch(all(), 0)).Interface() }

// branch is the struct of commands whose paths are equal up to a depth.
func branch(of []command, depth int) reflect.Type {
	var fields []reflect.StructField
	seen := map[string]bool{}
	for _, c := range of {
		words := strings.Fields(c.path)
		word := words[depth]
		if seen[word] {
			continue
		}
		seen[word] = true
		tag := fmt.Sprintf(`cmd:"" name:%q help:%q`, word, c.help)
		inner := leaf(c)
		if len(words) > depth+1 {
			below := slices.DeleteFunc(slices.Clone(of), func(o command) bool { return strings.Fields(o.path)[depth] != word })
			inner = branch(below, depth+1)
			tag = fmt.Sprintf(`cmd:"" name:%q help:%q`, word, summary(below, depth+1))
		} else if depth > 0 && slices.Contains(defaults, c.path) {
			tag += ` default:"withargs"`
		}
		if depth == 0 {
			tag += fmt.Sprintf(` group:%q`, c.group)
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("C%d", len(fields)), Type: inner, Tag: reflect.StructTag(tag)})
	}
	return reflect.StructOf(fields)
}

// summary names the commands of a branch.
func summary(of []command, depth int) string {
	var words []string
	for _, c := range of {
		words = append(words, strings.Fields(c.path)[depth])
	}
	return strings.Join(words, ", ") + "."
}

// leaf is the struct of a command: a field for each parameter.
func leaf(c command) reflect.Type {
	fields := make([]reflect.StructField, len(c.parameters))
	for i, p := range c.parameters {
		fields[i] = reflect.StructField{Name: fmt.Sprintf("P%d", i), Type: p.kind(), Tag: p.tag()}
	}
	return reflect.StructOf(fields)
}
