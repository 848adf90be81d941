package text

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
)

var (
	errBase64 = errors.New("must be canonical padded standard base64")
	strict    = base64.StdEncoding.Strict()
)

// Base64 decodes padded standard base64 of least to most bytes whose re-encoding is identical: no line breaks, no stray
// bits in the last character. Text longer than most bytes can need is refused without being decoded.
func Base64(s string, least, most int) ([]byte, error) {
	if len(s) > strict.EncodedLen(most) {
		return nil, sizes(least, most, "more")
	}
	b, err := strict.DecodeString(s)
	if err != nil || strict.EncodedLen(len(b)) != len(s) { // the decoder passes over CR and LF
		return nil, errBase64
	}
	if len(b) < least || len(b) > most {
		return nil, sizes(least, most, strconv.Itoa(len(b)))
	}
	return b, nil
}

func sizes(least, most int, got string) error {
	if least == most {
		return fmt.Errorf("must be the base64 of exactly %d bytes; got %s", most, got)
	}
	return fmt.Errorf("must be the base64 of %d to %d bytes; got %s", least, most, got)
}
