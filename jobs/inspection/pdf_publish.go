package inspection

import (
	"bufio"
	"errors"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// privateKeys are entries about the document or its maker that no page needs: XMP, and editors' private data.
var privateKeys = map[string]bool{"Metadata": true, "PieceInfo": true}

// published returns the document's published version, written anew without document information, XMP, PieceInfo and the private
// parts of its JPEG and JPEG 2000 images: only what its catalog reaches, so no earlier revisions either. It has been read again:
// what cannot be read is not published. It changes d.
func (d *document) published() ([]byte, error) {
	written, err := d.rewrite()
	if err != nil {
		return nil, err
	}
	again, err := openPDF(written)
	if err != nil {
		return nil, err
	}
	_, err = again.pages()
	return written, err
}

// rewrite does the writing of published. The result is PDF 2.0, which deprecates document information: for older versions
// pdfcpu would add its own.
func (d *document) rewrite() (written []byte, err error) {
	defer func() {
		if recover() != nil {
			written, err = nil, refusedMalformed
		}
	}()
	for _, number := range d.numbers {
		removePrivate(d.resolve(*types.NewIndirectRef(number, 0)), 0)
		if err := d.cleanImages(number); err != nil {
			return nil, err
		}
	}
	version := model.V20
	d.ctx.HeaderVersion, d.ctx.RootVersion = &version, nil
	d.ctx.Info, d.ctx.ID, d.ctx.AdditionalStreams = nil, nil, nil
	out := bounded{most: maxWritten}
	buffer := bufio.NewWriter(&out)
	d.ctx.Write.Writer = buffer
	err = pdfcpu.WriteContext(d.ctx)
	switch err = errors.Join(err, buffer.Flush()); {
	case errors.Is(err, refusedLimits):
		return nil, refusedLimits
	case err != nil:
		return nil, refusedMalformed
	}
	return out.kept, nil
}

// bounded keeps what is written to it and refuses more than it may keep.
type bounded struct {
	kept []byte
	most int
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if len(b.kept)+len(p) > b.most {
		return 0, refusedLimits
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}

// removePrivate removes the private entries of an object and of everything written inside it.
func removePrivate(o types.Object, depth int) {
	if depth > maxNesting {
		return
	}
	if list, ok := o.(types.Array); ok {
		for _, item := range list {
			removePrivate(item, depth+1)
		}
		return
	}
	dict, _ := entries(o)
	for key, value := range dict {
		if privateKeys[unescape([]byte(key))] {
			delete(dict, key)
			continue
		}
		removePrivate(value, depth+1)
	}
}
