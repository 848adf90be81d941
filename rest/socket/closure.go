package socket

import (
	"stoa/graph/fault"
)

// closure is how the server ends a connection: a close code of §6 and a reason for whoever reads logs.
type closure struct {
	code   int
	reason string
}

func (c closure) Error() string { return c.reason }

// The close codes of §6.
const (
	codeProtocol    = 4400
	codeIdentity    = 4401
	codeAccess      = 4403
	codeLimit       = 4429
	codeUnavailable = 1013
)

// The ways in which a connection ends.
var (
	errQuery     = closure{codeProtocol, "the address takes no query; the token goes into the Authorization header"}
	errProtocol  = closure{codeProtocol, "only ack frames are understood here"}
	errLarge     = closure{codeProtocol, "a frame holds at most 4096 bytes"}
	errIdentity  = closure{codeIdentity, "a valid bearer token is required"}
	errEnded     = closure{codeIdentity, "the token has ended"}
	errOrigin    = closure{codeAccess, "this origin may not connect"}
	errSuspended = closure{codeAccess, "the agent is suspended"}
	errFull      = closure{codeLimit, "too many connections"}
	errFast      = closure{codeLimit, "too many frames in a second"}
	errAway      = closure{codeUnavailable, "try again later"}
	errDraining  = closure{codeUnavailable, "shutting down"}

	// errBroken ends a connection that nothing can be written to any more.
	errBroken = closure{}
)

// refusals are the faults of admission; any other is a server that cannot tell at the moment.
var refusals = map[fault.Code]closure{
	fault.Unauthorized: errIdentity,
	fault.Forbidden:    errSuspended,
}
