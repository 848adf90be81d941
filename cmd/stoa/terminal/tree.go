package terminal

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Command is a command of a table, from which kong reads it.
type Command struct {
	// Path is its words.
	Path, Group, Help string
	// Default is true if the first word of the path alone means the command, too.
	Default    bool
	Parameters []Parameter
}

// Parameter is an argument or a flag: its name, the type of its value, and the other tags of kong.
type Parameter struct {
	Name string
	Type reflect.Type
	Tag  string
}

// Tree returns a pointer to a struct from which kong reads the commands; the fields of a command are its parameters in their order.
// about is the help of words that several commands begin with; otherwise it names the commands.
func Tree(commands []Command, about map[string]string) any {
	return reflect.New(branch(commands, about, 0)).Interface()
}

// branch is the struct of commands whose paths are equal up to a depth.
func branch(commands []Command, about map[string]string, depth int) reflect.Type {
	var fields []reflect.StructField
	seen := map[string]bool{}
	for _, c := range commands {
		words := strings.Fields(c.Path)
		word := words[depth]
		if seen[word] {
			continue
		}
		seen[word] = true
		inner, help, more := leaf(c), c.Help, ""
		if len(words) > depth+1 {
			below := slices.DeleteFunc(slices.Clone(commands), func(o Command) bool { return strings.Fields(o.Path)[depth] != word })
			inner, help = branch(below, about, depth+1), cmp.Or(about[word], summary(below, depth+1))
		} else if c.Default {
			more = ` default:"withargs"`
		}
		if depth == 0 && c.Group != "" {
			more += fmt.Sprintf(` group:%q`, c.Group)
		}
		tag := fmt.Sprintf(`cmd:"" name:%q help:%q`, word, help) + more
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("C%d", len(fields)), Type: inner, Tag: reflect.StructTag(tag)})
	}
	return reflect.StructOf(fields)
}

// summary names the commands of a branch.
func summary(commands []Command, depth int) string {
	var words []string
	for _, c := range commands {
		words = append(words, strings.Fields(c.Path)[depth])
	}
	return strings.Join(words, ", ") + "."
}

// leaf is the struct of a command: a field for each parameter.
func leaf(c Command) reflect.Type {
	fields := make([]reflect.StructField, len(c.Parameters))
	for i, p := range c.Parameters {
		tag := reflect.StructTag(fmt.Sprintf("name:%q %s", p.Name, p.Tag))
		fields[i] = reflect.StructField{Name: fmt.Sprintf("P%d", i), Type: p.Type, Tag: tag}
	}
	return reflect.StructOf(fields)
}
