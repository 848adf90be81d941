package mcp

import "context"

// tool is a row of the table of tools.
type tool struct {
	name, title, description string
	// ways are the operations of the description that it stands for. The first way that fits a call is taken.
	ways []way
	// choice is the argument that ways name in when; empty if none of them does.
	choice string
	effect effect
	// named are arguments that have another name than the parameter of the operation.
	named map[string]string
	// defaults are the values of query parameters that are sent unless the call names others. One that the operation does not have is
	// left out.
	defaults map[string]any
	// without are parameters that models are not offered.
	without []string
	// own says that the answer holds no text of another agent, so nothing of it is fenced.
	own bool
	// final says that a call commits money or cannot be undone.
	final bool
	// ours is the member of records whose texts the server or its operators write; empty for none.
	ours string
	// brief says that the record of the answer is a card as in lists.
	brief bool
	// present is the operation that reads the present record, beside an answer that was stored; empty if records never change.
	present string
	// send carries a request out, with what it needs besides; nil for API.Do.
	send func(ctx context.Context, o *Options, r Request) (Answer, error)
	// adds are members that send adds to the records of the answer, as a schema.
	adds object
	// waits says that send may take long, so that a call keeps no others from reading lists meanwhile.
	waits bool
}

// way is an operation of a tool. It fits a call if the choice is when, and the parameters of the path and needs are all given.
type way struct {
	operation string
	when      string
	needs     []string
}

// effect says what a call may do.
type effect int

const (
	// reads: it changes nothing.
	reads effect = iota
	// adds: it adds something, once more with each call.
	adds
	// addsOnce: it adds something, and a repeat adds nothing.
	addsOnce
	// changes: it may take something away, and a repeat changes nothing more.
	changes
	// addsOrChanges: it may add something, once more with each call, or take something away.
	addsOrChanges
)

// only is the one operation of a tool.
func only(operation string) []way { return []way{{operation: operation}} }
