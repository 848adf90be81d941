package inspection

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"

	"github.com/pdfcpu/pdfcpu/pkg/filter"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// indexOffsets finds the offsets of cross-references.
var indexOffsets = regexp.MustCompile(`(?:startxref|/Prev|/XRefStm)[\x00\t\n\f\r ]*\+?([0-9]{1,10})`)

// indexes bounds the expansion of cross-reference streams. pdfcpu inflates any object to which such an offset leads, up to 512
// MiB, so every object that may be meant is inflated here first, within the bounds of object streams.
func (s *pdfScan) indexes() error {
	seen := map[int]bool{}
	for _, found := range indexOffsets.FindAllSubmatch(s.file, -1) {
		offset, err := strconv.Atoi(string(found[1]))
		if err != nil || offset >= len(s.file) {
			continue
		}
		at := bytes.Index(s.file[offset:], pdfObject)
		if at += offset + len(pdfObject); at < offset+len(pdfObject) || seen[at] {
			continue
		}
		seen[at] = true
		if err := s.index(at); err != nil {
			return err
		}
	}
	return nil
}

// index inflates the stream of the object at an offset, if it is one.
func (s *pdfScan) index(at int) error {
	t := tokens{b: s.file, at: at}
	filters, ok := streamFilters(&t)
	if s.effort -= t.at - at; s.effort < 0 {
		return refusedMalformed
	}
	if !ok || len(filters) == 0 {
		return nil
	}
	data := pastLine(s.file[t.at:])
	packed := types.StreamDict{Dict: types.NewDict(), Raw: data, FilterPipeline: filters}
	err := packed.DecodeWithLimit(int64(min(s.expansion, maxDecoded)))
	if s.expansion -= len(packed.Content); errors.Is(err, filter.ErrDecodeLimitExceeded) || s.expansion <= 0 {
		return refusedExpansion
	}
	return nil
}

// pastLine passes the end of a line, which stands between "stream" and its data.
func pastLine(b []byte) []byte {
	return bytes.TrimPrefix(bytes.TrimPrefix(b, []byte{'\r'}), []byte{'\n'})
}

// streamFilters reads a dictionary up to the data of its stream and returns the filters; not ok if it has no stream.
func streamFilters(t *tokens) (filters []types.PDFFilter, ok bool) {
	depth, inFilter := 0, 0 // inFilter is the depth within the value of /Filter, 1 for a name that is the value
	for {
		next := t.next()
		switch next.kind {
		case tokenEnd:
			return nil, false
		case tokenOpen:
			depth++
			if inFilter > 0 {
				inFilter++
			}
		case tokenClose:
			depth--
			if inFilter--; inFilter == 1 {
				inFilter = 0
			}
		case tokenName:
			switch {
			case inFilter > 0:
				filters = append(filters, types.PDFFilter{Name: longFilter(next.text)})
				if inFilter == 1 {
					inFilter = 0
				}
			case depth == 1 && next.text == "Filter":
				inFilter = 1
			}
		case tokenKeyword:
			if next.text == "stream" {
				return filters, true
			}
			if boundary[next.text] {
				return nil, false
			}
		}
		if depth > maxNesting {
			return nil, false
		}
	}
}

// longFilter returns the long name of a filter.
func longFilter(name string) string {
	if long := inlineFilters[name]; long != "" {
		return long
	}
	return name
}
