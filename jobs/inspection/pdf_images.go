package inspection

import (
	"bytes"
	"slices"

	"github.com/pdfcpu/pdfcpu/pkg/filter"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// cleanImages strips the JPEG in the stream object of a number, if it is one: an image, a mask, a thumbnail, however it is
// used, or the images written inside a content stream. A stream whose JPEG cannot be reached is refused.
func (d *document) cleanImages(number int) error {
	entry := d.ctx.Table[number]
	stream, ok := entry.Object.(types.StreamDict)
	if !ok {
		return nil
	}
	coded := slices.IndexFunc(stream.FilterPipeline, func(f types.PDFFilter) bool { return f.Name == filter.DCT })
	var changed bool
	var err error
	if coded >= 0 {
		changed, err = true, d.cleanJPEG(&stream, coded)
	} else {
		changed, err = cleanContent(&stream)
	}
	if changed && err == nil {
		entry.Object = stream
	}
	return err
}

// cleanJPEG strips a stream whose filter number coded is DCTDecode, and undoes the filters before that one.
func (d *document) cleanJPEG(stream *types.StreamDict, coded int) error {
	raw, err := unfiltered(stream.Raw, stream.FilterPipeline[:coded])
	if err != nil {
		return err
	}
	if stream.Raw, _, err = stripJPEG(raw); err != nil {
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

// unfiltered undoes filters; refusedMalformed where that does not work, refusedExpansion where it takes too much.
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

// cleanContent strips the JPEGs among the inline images of a stream. One that cannot be decoded shows nothing and stays.
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
