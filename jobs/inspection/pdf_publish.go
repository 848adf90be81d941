package inspection

import (
	"bufio"
	"bytes"
	"errors"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// privateKeys are entries about the document or its makers that no page needs: XMP, editors' private data, the place of an
// image's original (OPI), and thumbnails of pages, which may show deleted content.
var privateKeys = map[string]bool{"Metadata": true, "PieceInfo": true, "OPI": true, "Thumb": true}

// annotationKeys are entries of an annotation: its author, and its text with that author's style.
var annotationKeys = map[string]bool{"T": true, "RC": true}

// published returns the document's published version, written anew without document information, private entries and the private
// parts of its JPEG and JPEG 2000 images. It holds only objects that its catalog reaches; therefore it holds no earlier
// revisions. It is PDF 2.0, which deprecates document information: for older versions pdfcpu would add its own. It is read again,
// and not published if that fails. published changes d.
func (d *document) published() ([]byte, error) {
	for _, number := range d.numbers {
		d.removePrivate(d.resolve(*types.NewIndirectRef(number, 0)), 0)
		if err := d.cleanImages(number); err != nil {
			return nil, refusedImage
		}
	}
	version := model.V20
	d.ctx.HeaderVersion, d.ctx.RootVersion = &version, nil
	d.ctx.Info, d.ctx.ID, d.ctx.AdditionalStreams = nil, nil, nil
	var out bytes.Buffer
	d.ctx.Write.Writer = bufio.NewWriter(&out)
	if err := errors.Join(pdfcpu.WriteContext(d.ctx), d.ctx.Write.Flush()); err != nil {
		return nil, refusedRewrite
	}
	if out.Len() > maxWritten {
		return nil, refusedLimits
	}
	again, err := openPDF(out.Bytes())
	if err == nil {
		_, err = again.pages()
	}
	if err != nil {
		return nil, refusedRewrite
	}
	return out.Bytes(), nil
}

// removePrivate removes the private entries of an object and of everything written inside it.
func (d *document) removePrivate(o types.Object, depth int) {
	if depth > maxNesting {
		return
	}
	if list, ok := o.(types.Array); ok {
		for _, item := range list {
			d.removePrivate(item, depth+1)
		}
		return
	}
	dict := entries(o)
	annotation := d.annotates(dict)
	for key, value := range dict {
		known := unescape([]byte(key))
		if privateKeys[known] || annotation && annotationKeys[known] {
			delete(dict, key)
			continue
		}
		d.removePrivate(value, depth+1)
	}
}

// annotates reports whether a dictionary is an annotation and no field of a form, whose /T is its name.
func (d *document) annotates(dict types.Dict) bool {
	var shape, annotation, widget bool
	for key, value := range dict {
		switch unescape([]byte(key)) {
		case "Rect":
			shape = true
		case "Type":
			annotation = name(d.resolve(value)) == "Annot"
		case keySubtype:
			widget = name(d.resolve(value)) == "Widget"
		}
	}
	return (shape || annotation) && !widget
}
