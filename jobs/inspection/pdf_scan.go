package inspection

import (
	"bytes"
	"compress/zlib"
	"io"
	"slices"
)

var (
	pdfMagic = []byte("%PDF-")
	pdfEnd   = []byte("%%EOF")
)

// scanPDF looks at a PDF's bytes without relying on its cross-reference: header and end, and every object and trailer anywhere
// in the file, earlier revisions and object streams included. So it also finds objects that only some readers find.
func scanPDF(file []byte) error {
	if !bytes.HasPrefix(file, pdfMagic) {
		return refusedMalformed
	}
	end := bytes.LastIndex(file, pdfEnd)
	if end < 0 {
		return refusedCut
	}
	if len(file)-end > maxTail {
		return refusedMalformed
	}
	scan := pdfScan{file: file, effort: 8*len(file) + mebibyte, expansion: 2 * maxDecoded}
	for _, mark := range []string{"obj", "trailer"} {
		for at := 0; ; {
			found := bytes.Index(file[at:], []byte(mark))
			if found < 0 {
				break
			}
			at += found + len(mark)
			if mark == "obj" && !numbered(file[:at-len(mark)]) {
				continue
			}
			if err := scan.object(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// numbered reports whether bytes end in a digit, white space between: the generation number of an object.
func numbered(before []byte) bool {
	before = bytes.TrimRight(before, spaces)
	return len(before) > 0 && before[len(before)-1] >= '0' && before[len(before)-1] <= '9'
}

// pdfScan is a running scan and its remaining budgets.
type pdfScan struct {
	file []byte
	// effort is how many bytes may still be read: objects that overlap on purpose must not make the scan quadratic.
	effort int
	// expansion is how many bytes object streams may still expand to.
	expansion int
}

// object reads one object from an offset up to its end or its stream's data.
func (s *pdfScan) object(at int) error {
	t := tokens{b: s.file, at: at}
	packed, err := s.read(&t)
	if err != nil || !packed {
		return err
	}
	data := bytes.TrimPrefix(bytes.TrimPrefix(s.file[t.at:], []byte{'\r'}), []byte{'\n'}) // behind the line of "stream"
	inflated, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil //nolint:nilerr // pdfcpu decides about a stream that zlib cannot open
	}
	content, _ := io.ReadAll(io.LimitReader(inflated, int64(s.expansion)+1)) // a cut stream counts as far as it goes
	if s.expansion -= len(content); s.expansion < 0 {
		return refusedExpansion
	}
	s.effort += len(content)
	_, err = s.read(&tokens{b: content})
	return err
}

// boundary lists the keywords that end an object.
var boundary = map[string]bool{
	"endobj": true, "obj": true, "endstream": true, "xref": true, "startxref": true, "trailer": true,
}

// read goes through tokens and applies the tables of pdf_active.go to neighbouring tokens. It stops at a boundary and at the
// data of a stream; packed reports whether it is an object stream.
func (s *pdfScan) read(t *tokens) (packed bool, err error) {
	from, depth, key, external := t.at, 0, "", false
	defer func() { s.effort -= t.at - from }()
	for {
		if t.at-from > s.effort {
			return false, refusedMalformed
		}
		next := t.next()
		if err := refusedPair(key, next, t.b[t.from:t.at]); err != nil {
			return false, err
		}
		if depth == 0 && next.kind == tokenString && isAmbiguous(t.b[t.from:t.at]) {
			return false, refusedMalformed
		}
		external = external || depth == 1 && key == keyStreamFile && names(next, *t)
		key = ""
		switch next.kind {
		case tokenEnd:
			return false, nil
		case tokenOpen:
			if depth++; depth > maxNesting {
				return false, refusedNesting
			}
		case tokenClose:
			depth--
		case tokenName:
			key = next.text
			packed = packed || key == objectStreamTag
		case tokenKeyword:
			if next.text == "stream" {
				if external {
					return false, refusedActive
				}
				return packed, nil
			}
			if boundary[next.text] {
				return false, nil
			}
		}
	}
}

// refusedPair refuses a name and the token after it, whose bytes are raw, if the tables of pdf_active.go name them.
func refusedPair(key string, value token, raw []byte) error {
	holds := value.kind == tokenNumber || value.kind == tokenOpen
	switch {
	case linkKeys[key] && value.kind == tokenString && !safeLink(stringBytes(raw)),
		linkKeys[key] && value.kind == tokenName && !safeLink([]byte(value.text)):
		return refusedLink
	case key == keyEncryption && holds:
		return refusedEncrypted
	case key == keyAction && value.kind == tokenName && slices.Contains(activeActions, value.text),
		key == keySubtype && value.kind == tokenName && slices.Contains(activeAnnotations, value.text),
		key == keyScript && (value.kind == tokenString || value.kind == tokenNumber),
		key == keyFileSystem && value.kind == tokenName && value.text == urlSystem,
		key == keyFile && value.kind == tokenOpen,
		slices.Contains(activeKeys, key) && (holds || value.kind == tokenString):
		return refusedActive
	}
	return nil
}

// names reports whether a value can name a file: a string, a dictionary or a reference; rest stands behind the value.
func names(value token, rest tokens) bool {
	if value.kind == tokenNumber {
		generation, word := rest.next(), rest.next()
		return generation.kind == tokenNumber && word.kind == tokenKeyword && word.text == "R"
	}
	return value.kind == tokenString || value.kind == tokenOpen
}
