package wire

// Kind says what is wrong with a body, so that an endpoint can choose its 400 code (contract §1).
type Kind uint8

const (
	// Syntax is a body that is not one JSON value: malformed, not UTF-8, a name twice, something after the end.
	Syntax Kind = iota + 1
	// NotObject is valid JSON that is not an object.
	NotObject
	// Unknown is a member that the input does not have.
	Unknown
	// Type is a member of the wrong type, null and integers out of range included.
	Type
)

// Error is a body refused by Unmarshal, Check or Canonical.
type Error struct {
	Kind Kind
	// Field is the path of the member to blame, such as `amount_minor` or `attachment_ids[2]`; empty where the body
	// as a whole is to blame. It may hold what the sender wrote, cut to 100 bytes.
	Field string
	// Reason is an English phrase for the sender, valid UTF-8; where Field is set it reads on from it.
	Reason string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + " " + e.Reason
}
