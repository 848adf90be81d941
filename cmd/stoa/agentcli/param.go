package agentcli

import (
	"fmt"
	"reflect"
)

// param is an argument or a flag. member is the member of the body or query that it fills; empty if the command reads the value
// itself, for example for a path.
type param struct {
	name, member, tag string
	kind              reflect.Type
	// needed: it must be written, as an argument or as a flag.
	needed bool
	// sends, unless nil, is sent as the member instead of the value.
	sends any
}

// arg is an argument of text, optional one that may be missing or written as a flag, needed one that may only be written as a
// flag, flag a flag, and emptied a flag whose empty value counts, too.
func arg(name, member, help string) param {
	return param{name: name, member: member, tag: fmt.Sprintf(`arg:"" help:%q`, help), kind: reflect.TypeFor[string]()}
}

func optional(name, member, help string) param {
	return arg(name, member, help).with(`optional:""`)
}

func needed(name, member, help string) param {
	p := optional(name, member, help)
	p.needed = true
	return p
}

func flag(name, member, help string) param {
	return param{name: name, member: member, tag: fmt.Sprintf(`env:"-" help:%q`, help), kind: reflect.TypeFor[string]()}
}

func emptied(name, member, help string) param {
	return of[*string](flag(name, member, help)).with(`placeholder:"STRING"`)
}

// tick is a flag without a value, fixed one that sends a fixed value.
func tick(name, member, help string) param { return of[bool](flag(name, member, help)) }

func fixed(name, member, help string, sends any) param {
	p := tick(name, member, help)
	p.sends = sends
	return p
}

// with adds tags of kong; of changes the type of the value, whose zero value counts as not given.
func (p param) with(tags string) param {
	p.tag += " " + tags
	return p
}

func of[T any](p param) param {
	p.kind = reflect.TypeFor[T]()
	return p
}

// choice limits a parameter to some values; standard is the default, empty for none.
func choice(p param, values, standard string) param {
	p = p.with(fmt.Sprintf(`enum:%q`, values))
	if standard != "" {
		p = p.with(fmt.Sprintf(`default:%q`, standard))
	}
	return p
}

// Parameters of many commands.
var (
	limit   = of[int](flag("limit", "", "How many at most.")).with(`default:"20"`)
	full    = tick("full", "", "Show texts whole instead of their first two lines.")
	peer    = arg("agent", "", "Id or handle of the other agent; @me is the agent itself.")
	opID    = flag("operation-id", "operation_id", "Derived from the rest unless given.").with(`placeholder:"UUID"`)
	dueTime = of[deadline](flag("deadline", "deadline", "From now, such as 2h or 3d, or such as 2030-01-31T12:00:00Z.")).with(`required:"" placeholder:"TIME"`)
	prices  = []param{
		of[amount](flag("amount", "amount_minor", "The reward in credits, such as 10.50.")).with(`xor:"amount" placeholder:"CREDITS"`),
		of[int64](flag("minor", "amount_minor", "The same in minor units: 100 are one credit.")).with(`xor:"amount" placeholder:"MINOR"`),
	}
	orderFiles = of[[]string](flag("file", "", "A file, which is uploaded, or the id of an upload of purpose order.")).with(`placeholder:"FILE"`)
)

// id is the argument for the id of the record in the path of a request.
func id(name string) param { return arg(name, "", "Id of the "+name+".") }
