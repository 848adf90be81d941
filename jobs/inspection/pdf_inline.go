package inspection

import (
	"bytes"
	"slices"

	"github.com/pdfcpu/pdfcpu/pkg/filter"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// inlineFilters are the names a filter may have in an inline image (ISO 32000-2, table 92).
var inlineFilters = map[string]string{
	"AHx": filter.ASCIIHex, "A85": filter.ASCII85, "LZW": filter.LZW, "Fl": filter.Flate, "RL": filter.RunLength,
	"CCF": filter.CCITTFax, "DCT": filter.DCT,
}

// maxEnds is how many places are tried where an inline image may end.
const maxEnds = 64

// inline is an inline image: the entries between BI and ID, and where its data begin.
type inline struct {
	entries []inlineEntry
	filters []types.PDFFilter
	data    int
}

// inlineEntry is a key and the bytes of it and its value.
type inlineEntry struct {
	key   string
	bytes []byte
}

// stripInline returns a content stream whose inline JPEGs are stripped; content itself where there are none.
func stripInline(content []byte) ([]byte, error) {
	if !bytes.Contains(content, []byte("BI")) || !bytes.Contains(content, []byte("DCT")) && !bytes.Contains(content, []byte("#")) {
		return content, nil
	}
	var clean []byte
	kept := 0
	for t := (tokens{b: content}); ; {
		t.skip()
		begin := t.at
		switch next := t.next(); {
		case next.kind == tokenEnd:
			return append(clean, content[kept:]...), nil
		case next.kind != tokenKeyword || next.text != "BI":
			continue
		}
		image, ok := readInline(&t)
		if !ok {
			continue
		}
		jpeg, end, err := image.jpeg(content)
		if err != nil {
			return nil, err
		}
		if t.at = end; jpeg == nil {
			continue
		}
		clean = append(append(clean, content[kept:begin]...), "BI"...)
		for _, e := range image.entries {
			if e.key != "F" && e.key != "Filter" && e.key != "DP" && e.key != "DecodeParms" {
				clean = append(append(clean, ' '), e.bytes...)
			}
		}
		clean = append(append(clean, " /F /DCT ID "...), jpeg...)
		if end < len(content) && class[content[end]] != space {
			clean = append(clean, '\n')
		}
		kept = end
	}
}

// readInline reads an inline image's entries; t stands behind BI, and then behind ID. Not ok where they are none.
func readInline(t *tokens) (image inline, ok bool) {
	for {
		t.skip()
		begin := t.at
		key := t.next()
		if key.kind == tokenKeyword && key.text == "ID" {
			image.data = min(t.at+1, len(t.b)) // one white space
			return image, true
		}
		if key.kind != tokenName {
			return image, false
		}
		filters := key.text == "F" || key.text == "Filter"
		for depth := 0; ; {
			value := t.next()
			switch value.kind {
			case tokenEnd:
				return image, false
			case tokenOpen:
				depth++
			case tokenClose:
				depth--
			case tokenName:
				if filters {
					long := value.text
					if known := inlineFilters[long]; known != "" {
						long = known
					}
					image.filters = append(image.filters, types.PDFFilter{Name: long})
				}
			}
			if depth <= 0 {
				break
			}
		}
		image.entries = append(image.entries, inlineEntry{key.text, t.b[begin:t.at]})
	}
}

// jpeg returns the stripped JPEG of an inline image, nil where it is none, and where its data end: at EI.
func (i inline) jpeg(content []byte) (clean []byte, end int, err error) {
	coded := slices.IndexFunc(i.filters, func(f types.PDFFilter) bool { return f.Name == filter.DCT })
	data := content[i.data:]
	if coded == 0 && bytes.HasPrefix(bytes.TrimLeft(data[:min(len(data), 4)], "\r\n "), jpegMagic) {
		clean, length, err := stripJPEG(data)
		if err == nil && bytes.HasSuffix(clean, jpegEnd) {
			return clean, i.data + length, nil
		}
	}
	tried := 0
	for at := range ends(data) {
		if coded < 0 {
			return nil, i.data + at, nil
		}
		raw, err := unfiltered(bytes.TrimSpace(data[:at]), i.filters[:coded])
		if err == nil && (coded == 0 || bytes.Contains(raw, jpegMagic)) {
			clean, _, err := stripJPEG(raw)
			return clean, i.data + at, err
		}
		if tried++; tried == maxEnds {
			break
		}
	}
	if coded < 0 {
		return nil, i.data, nil
	}
	return nil, 0, refusedMalformed
}

// ends yields the offsets at which the data of an inline image may end: at an EI that stands alone.
func ends(data []byte) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for at := 0; ; at += 2 {
			found := bytes.Index(data[at:], []byte("EI"))
			if found < 0 {
				return
			}
			at += found
			alone := (at == 0 || class[data[at-1]] != regular) && (at+2 == len(data) || class[data[at+2]] != regular)
			if alone && !yield(at) {
				return
			}
		}
	}
}
