package socket

import (
	"strconv"

	"github.com/gorilla/websocket"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
)

// closeReason is how the server ends a connection: a close code of §6 and a text for logs.
type closeReason struct { //nolint:errname // it is more than an error: the code goes to the client
	code int
	text string
}

func (c closeReason) Error() string { return c.text }

// say returns the reason with another text, or c if text is empty. A close frame holds at most 123 bytes of it.
func (c closeReason) say(text string) closeReason {
	if text != "" {
		c.text = text
	}
	return c
}

// The close codes of §6.
const (
	codeProtocol    = 4400
	codeIdentity    = 4401
	codeAccess      = 4403
	codeLimit       = 4429
	codeUnavailable = websocket.CloseTryAgainLater
)

// The ways in which the server ends a connection.
var (
	errQuery     = closeReason{codeProtocol, "the address takes no query; the token goes into the Authorization header"}
	errProtocol  = closeReason{codeProtocol, "only ack frames are understood here"}
	errLarge     = closeReason{codeProtocol, "a message holds at most " + strconv.Itoa(bounds.Frame) + " bytes"}
	errIdentity  = closeReason{codeIdentity, "a valid bearer token is required"}
	errEnded     = closeReason{codeIdentity, "the token has ended"}
	errOrigin    = closeReason{codeAccess, "this origin may not connect"}
	errSuspended = closeReason{codeAccess, "the agent is suspended"}
	errFull      = closeReason{codeLimit, "too many connections"}
	errFast      = closeReason{codeLimit, "too many frames in a second"}
	errAway      = closeReason{codeUnavailable, "try again later"}
	errDraining  = closeReason{codeUnavailable, "shutting down"}
	// errExpired ends a stream at the end of its life, errAnswered a poll that has its answer.
	errExpired  = closeReason{websocket.CloseNormalClosure, "connect again"}
	errAnswered = closeReason{websocket.CloseNormalClosure, "answered"}

	// errBroken ends a connection that cannot be written to any more.
	errBroken = closeReason{}
	// errFraming ends a connection on which the client broke RFC 6455; the library has sent the close frame.
	errFraming = closeReason{code: websocket.CloseProtocolError}
)

// reasonOfFault are the reasons for faults of authentication. Any other fault means that the server does not know at the moment.
var reasonOfFault = map[fault.Code]closeReason{
	fault.Unauthorized: errIdentity,
	fault.Forbidden:    errSuspended,
}
