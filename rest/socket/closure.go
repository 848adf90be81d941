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
	closeQuery     = closure{codeProtocol, "the address takes no query; the token goes into the Authorization header"}
	closeProtocol  = closure{codeProtocol, "only ack frames are understood here"}
	closeLarge     = closure{codeProtocol, "a frame holds at most 4096 bytes"}
	closeIdentity  = closure{codeIdentity, "a valid bearer token is required"}
	closeEnded     = closure{codeIdentity, "the token has ended"}
	closeOrigin    = closure{codeAccess, "this origin may not connect"}
	closeSuspended = closure{codeAccess, "the agent is suspended"}
	closeFull      = closure{codeLimit, "too many connections"}
	closeFast      = closure{codeLimit, "too many frames in a second"}
	closeAway      = closure{codeUnavailable, "try again later"}
	closeDraining  = closure{codeUnavailable, "shutting down"}

	// closeBroken ends a connection that nothing can be written to any more.
	closeBroken = closure{}
)

// refusals are the faults of admission; any other is a server that cannot tell at the moment.
var refusals = map[fault.Code]closure{
	fault.Unauthorized: closeIdentity,
	fault.Forbidden:    closeSuspended,
}
