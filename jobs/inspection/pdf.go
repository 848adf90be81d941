package inspection

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"github.com/pdfcpu/pdfcpu/pkg/filter"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// document is a PDF that pdfcpu could read.
type document struct {
	ctx *model.Context
	// numbers are the objects in use, ascending, so that the result never depends on a map's order.
	numbers []int
}

// openPDF reads every object of a PDF. A file that pdfcpu cannot read, or that makes it panic, is refused. This package uses
// pdfcpu's core and not its package api, which takes tens of milliseconds to initialise in every process that links it.
func openPDF(file []byte) (d *document, err error) {
	defer func() {
		if recover() != nil {
			d, err = nil, refusedMalformed
		}
	}()
	model.ConfigPath = "disable" // no folder of settings and fonts in anyone's home
	conf := model.NewDefaultConfiguration()
	conf.Offline = true
	conf.Limits.MaxStreamBytes = maxFile
	conf.Limits.MaxDecodeBytes = maxDecoded
	conf.Limits.MaxObjectCount = maxObjects
	conf.Limits.MaxXRefEntries = maxObjects
	conf.Limits.MaxObjectStreamCount = maxObjects
	conf.Limits.MaxRecursionDepth = maxNesting
	ctx, err := pdfcpu.Read(bytes.NewReader(knownVersion(file)), conf)
	switch {
	case errors.Is(err, filter.ErrDecodeLimitExceeded):
		return nil, refusedExpansion
	case err != nil:
		return nil, refusedMalformed
	case ctx.Encrypt != nil:
		return nil, refusedEncrypted
	}
	d = &document{ctx: ctx}
	for _, number := range slices.Sorted(maps.Keys(ctx.Table)) {
		if entry := ctx.Table[number]; entry != nil && !entry.Free {
			d.numbers = append(d.numbers, number)
		}
	}
	return d, nil
}

// knownVersion spells a version 1 that was never published, and that pdfcpu does not read, as the last one that was: a file is
// not worse for its header, and nothing here depends on it.
func knownVersion(file []byte) []byte {
	const digit = len("%PDF-1.")
	if !bytes.HasPrefix(file, []byte("%PDF-1.")) || len(file) == digit || file[digit] < '8' || file[digit] > '9' {
		return file
	}
	known := bytes.Clone(file)
	known[digit] = '7'
	return known
}

// check walks every object: none may be active, and no stream may expand without measure.
func (d *document) check() (err error) {
	defer func() {
		if recover() != nil {
			err = refusedMalformed
		}
	}()
	for _, number := range d.numbers {
		o := d.resolve(*types.NewIndirectRef(number, 0))
		if err := d.active(o, 0); err != nil {
			return err
		}
		if d.external(o) {
			return refusedActive
		}
		if err := expands(o); err != nil {
			return err
		}
	}
	return nil
}

// resolve follows a reference; if it leads nowhere, the value is nil, as the standard requires.
func (d *document) resolve(o types.Object) types.Object {
	resolved, err := d.ctx.Dereference(o)
	if err != nil {
		return nil
	}
	return resolved
}

// entry returns the resolved value of a dictionary's entry, or nil.
func (d *document) entry(dict types.Dict, key string) types.Object {
	value, _ := dict.Find(key)
	return d.resolve(value)
}

// expanding are the filters whose output can be far larger than their input.
var expanding = map[string]bool{filter.Flate: true, filter.LZW: true, filter.RunLength: true}

// expands refuses a stream that decodes to more than maxDecoded. Images are left to the renderer, which decodes no more of
// one than its declared size.
func expands(o types.Object) error {
	stream, ok := o.(types.StreamDict)
	expands := func(f types.PDFFilter) bool { return expanding[f.Name] }
	if !ok || stream.Image() || !slices.ContainsFunc(stream.FilterPipeline, expands) {
		return nil
	}
	if err := stream.DecodeWithLimit(maxDecoded); errors.Is(err, filter.ErrDecodeLimitExceeded) {
		return refusedExpansion
	}
	return nil
}
