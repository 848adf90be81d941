package inspection

import (
	"errors"
	"io"
	"io/fs"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// privateKeys are entries about the document or its maker that no page needs: XMP, and editors' private data.
var privateKeys = map[string]bool{"Metadata": true, "PieceInfo": true}

// rewrite writes the document anew without document information and XMP: only what its catalog reaches, so no earlier
// revisions either. It changes d. A fault of w comes back as it is, anything else is a refusal.
//
// The result is PDF 2.0, which deprecates document information: for older versions pdfcpu would add its own.
func (d *document) rewrite(w io.Writer) (err error) {
	defer func() {
		if recover() != nil {
			err = refusedMalformed
		}
	}()
	for _, number := range d.numbers {
		forget(d.resolve(*types.NewIndirectRef(number, 0)), 0)
	}
	version := model.V20
	d.ctx.HeaderVersion, d.ctx.RootVersion = &version, nil
	d.ctx.Info, d.ctx.ID, d.ctx.AdditionalStreams = nil, nil, nil
	if err := api.WriteContext(d.ctx, w); err != nil {
		if disk := new(fs.PathError); errors.As(err, &disk) {
			return err
		}
		return refusedMalformed
	}
	return nil
}

// forget removes the private entries of an object and of everything written inside it.
func forget(o types.Object, depth int) {
	if depth > maxNesting {
		return
	}
	if list, ok := o.(types.Array); ok {
		for _, item := range list {
			forget(item, depth+1)
		}
		return
	}
	dict, _ := entries(o)
	for key, value := range dict {
		if privateKeys[unescape([]byte(key))] {
			delete(dict, key)
			continue
		}
		forget(value, depth+1)
	}
}
