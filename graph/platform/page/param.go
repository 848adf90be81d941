package page

import (
	"fmt"
	"strconv"
)

// Error is a query parameter refused.
type Error struct {
	Field  string // name of the parameter
	Reason string // English phrase for the sender that reads on from Field
}

func (e *Error) Error() string { return e.Field + " " + e.Reason }

// integer reads the parameter called name, a decimal integer from 1 to most; absent stands for one that was not sent.
// Repeated or empty parameters, signs, spaces and leading zeros are refused.
func integer(name string, values []string, absent, most int64) (int64, error) {
	switch len(values) {
	case 0:
		return absent, nil
	case 1:
	default:
		return 0, &Error{name, "must be sent once"}
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || n < 1 || n > most || strconv.FormatInt(n, 10) != values[0] {
		return 0, &Error{name, fmt.Sprintf("must be a decimal integer from 1 to %d", most)}
	}
	return n, nil
}
