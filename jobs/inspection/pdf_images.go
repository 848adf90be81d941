package inspection

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/filter"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// strippers maps the filter of an image's stream to the function that removes information about the image's origin.
var strippers = map[string]func([]byte) ([]byte, error){
	filter.DCT: func(b []byte) ([]byte, error) {
		clean, _, err := stripJPEG(b)
		return clean, err
	},
	filter.JPX: stripJP2,
}

// codedFilter is the index of the filter that codes an image which can be stripped, or -1.
func codedFilter(filters []types.PDFFilter) int {
	return slices.IndexFunc(filters, func(f types.PDFFilter) bool { return strippers[f.Name] != nil })
}

// cleanImages strips the JPEG or JPEG 2000 in a stream object, whether it is an image, a mask or a thumbnail, or the images
// written inside a content stream. A stream whose image cannot be reached is refused.
func (d *document) cleanImages(number int) error {
	entry := d.ctx.Table[number]
	stream, ok := entry.Object.(types.StreamDict)
	if !ok {
		return nil
	}
	coded := codedFilter(stream.FilterPipeline)
	var changed bool
	var err error
	if coded >= 0 {
		changed, err = true, d.cleanImage(&stream, coded)
	} else {
		changed, err = cleanContent(&stream)
	}
	if changed && err == nil {
		entry.Object = stream
	}
	return err
}

// cleanImage strips a stream whose filter number coded codes an image, and undoes the filters before that one.
func (d *document) cleanImage(stream *types.StreamDict, coded int) error {
	raw, err := unfiltered(stream.Raw, stream.FilterPipeline[:coded])
	if err != nil {
		return err
	}
	if stream.Raw, err = strippers[stream.FilterPipeline[coded].Name](raw); err != nil {
		return err
	}
	left := stream.FilterPipeline[coded:]
	if coded > 0 {
		var names, parameters types.Array
		for _, f := range left {
			names = append(names, types.Name(f.Name))
		}
		if all, ok := d.entry(stream.Dict, "DecodeParms").(types.Array); ok && len(all) == coded+len(left) {
			parameters = all[coded:]
		}
		stream.Delete("DecodeParms")
		if parameters != nil {
			stream.Insert("DecodeParms", parameters)
		}
		stream.Update("Filter", names)
		stream.FilterPipeline = left
	}
	length := int64(len(stream.Raw))
	stream.Content, stream.StreamLength = nil, &length
	stream.Update("Length", types.Integer(length))
	return nil
}

// unfiltered undoes filters. It returns refusedMalformed if that fails, refusedExpansion if the output is too large.
func unfiltered(raw []byte, filters []types.PDFFilter) ([]byte, error) {
	if len(filters) == 0 {
		return raw, nil
	}
	packed := types.StreamDict{Dict: types.NewDict(), Raw: raw, FilterPipeline: filters}
	if err := packed.DecodeWithLimit(maxDecoded); err != nil {
		return nil, refusedMalformed
	}
	return packed.Content, nil
}

// opaque are the subtypes of streams that hold no content operators.
var opaque = map[string]bool{"Image": true, "XML": true, "Type1C": true, "CIDFontType0C": true, "OpenType": true}

// contentFilters are the filters a content stream may have.
var contentFilters = map[string]bool{
	filter.Flate: true, filter.LZW: true, filter.RunLength: true, filter.ASCII85: true, filter.ASCIIHex: true,
}

// cleanContent strips the JPEGs among the inline images of a stream. An undecodable stream shows nothing and stays unchanged.
func cleanContent(stream *types.StreamDict) (changed bool, err error) {
	_, font := stream.Find("Length1")
	subtype, _ := stream.Find("Subtype")
	other := slices.ContainsFunc(stream.FilterPipeline, func(f types.PDFFilter) bool { return !contentFilters[f.Name] })
	if font || other || opaque[name(subtype)] {
		return false, nil
	}
	content, err := unfiltered(stream.Raw, stream.FilterPipeline)
	if err != nil {
		return false, nil //nolint:nilerr // see above
	}
	clean, err := stripInline(content)
	if err != nil || bytes.Equal(clean, content) {
		return false, err
	}
	stream.Content = clean
	stream.FilterPipeline = []types.PDFFilter{{Name: filter.Flate}}
	stream.Delete("DecodeParms")
	stream.Update("Filter", types.Name(filter.Flate))
	return true, stream.Encode()
}

// inlineFilters are the names a filter may have in an inline image (ISO 32000-2, table 92).
var inlineFilters = map[string]string{
	"AHx": filter.ASCIIHex, "A85": filter.ASCII85, "LZW": filter.LZW, "Fl": filter.Flate, "RL": filter.RunLength,
	"CCF": filter.CCITTFax, "DCT": filter.DCT,
}

// maxEnds is how many possible ends of an inline image are tried.
const maxEnds = 64

// inline is an inline image: the entries between BI and ID, and where its data begin.
type inline struct {
	entries []inlineEntry
	filters []types.PDFFilter
	data    int
}

// inlineEntry is a key, and the bytes of the key and its value.
type inlineEntry struct {
	key   string
	bytes []byte
}

// stripInline returns a content stream whose inline JPEGs are stripped; content itself if it has none.
func stripInline(content []byte) ([]byte, error) {
	coded := func(sign string) bool { return bytes.Contains(content, []byte(sign)) }
	if !coded("BI") || !coded("DCT") && !coded("JPX") && !coded("#") { // a # may write a name in another way
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
		if end < len(content) && strings.IndexByte(spaces, content[end]) < 0 {
			clean = append(clean, '\n')
		}
		kept = end
	}
}

// readInline reads an inline image's entries; t stands behind BI, and then behind ID. ok is false if they are malformed.
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
					image.filters = append(image.filters, types.PDFFilter{Name: cmp.Or(inlineFilters[value.text], value.text)})
				}
			}
			if depth <= 0 {
				break
			}
		}
		image.entries = append(image.entries, inlineEntry{key.text, t.b[begin:t.at]})
	}
}

// jpeg returns the stripped JPEG of an inline image, or nil if the image is not a JPEG, and where its data end: at EI. JPEG 2000
// must not stand in a content stream and is refused.
func (i inline) jpeg(content []byte) (clean []byte, end int, err error) {
	coded := codedFilter(i.filters)
	if coded >= 0 && i.filters[coded].Name == filter.JPX {
		return nil, 0, refusedMalformed
	}
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
			regular := func(i int) bool { return i >= 0 && i < len(data) && strings.IndexByte(spaces+delimiters, data[i]) < 0 }
			if !regular(at-1) && !regular(at+2) && !yield(at) {
				return
			}
		}
	}
}
