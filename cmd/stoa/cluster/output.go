package cluster

import (
	"bytes"
	"fmt"
)

// outputTail is how many bytes of a program's output an error quotes.
const outputTail = 2 << 10

// Output keeps the last lines that a program prints, at most outputTail bytes. Give it to the program as standard output and
// standard error.
type Output struct {
	tail []byte
	cut  bool // something before the tail was dropped
}

// Write implements io.Writer; it never fails.
func (o *Output) Write(p []byte) (int, error) {
	o.tail = append(o.tail, p...)
	if excess := len(o.tail) - outputTail; excess > 0 {
		o.tail = append(o.tail[:0], o.tail[excess:]...)
		o.cut = true
	}
	return len(p), nil
}

// Explain returns err with the program's name and its last lines, whole ones only if there are several.
func (o *Output) Explain(program string, err error) error {
	text := o.tail
	if _, whole, found := bytes.Cut(text, []byte("\n")); o.cut && found {
		text = whole
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return fmt.Errorf("%s: %w; it printed nothing", program, err)
	case bytes.ContainsRune(text, '\n'):
		return fmt.Errorf("%s: %w:\n%s", program, err, text)
	default:
		return fmt.Errorf("%s: %w: %s", program, err, text)
	}
}
