package inspection

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"

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

// withoutFolder keeps pdfcpu from making a folder of settings and fonts in a home folder.
var withoutFolder = sync.OnceFunc(func() { model.ConfigPath = "disable" })

// openPDF reads every object of a PDF. A file that pdfcpu cannot read is refused. This package uses pdfcpu's core and not its
// package api, which takes tens of milliseconds to initialise in every process that links it.
func openPDF(file []byte) (*document, error) {
	withoutFolder()
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
	d := &document{ctx: ctx}
	for _, number := range slices.Sorted(maps.Keys(ctx.Table)) {
		if entry := ctx.Table[number]; entry != nil && !entry.Free {
			d.numbers = append(d.numbers, number)
		}
	}
	return d, nil
}

// knownVersion replaces version 1.8 or 1.9 in the header, which were never published and which pdfcpu does not read, by 1.7.
// Nothing here depends on the version.
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
func (d *document) check() error {
	for _, number := range d.numbers {
		o := d.resolve(*types.NewIndirectRef(number, 0))
		if err := d.active(o, 0); err != nil {
			return err
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

// expands refuses a stream that decodes to more than maxDecoded. Images are left to the renderer, which decodes each one only up
// to its declared size.
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

// pageTree is a walk over a PDF's page tree, which is not trusted: it may have wrong counts, cycles, or a huge size.
type pageTree struct {
	document *document
	seen     map[int]bool
	nodes    int
	pages    int
}

// pages returns how many pages there are: the larger of the root's count and the number of pages in the tree.
func (d *document) pages() (int, error) {
	catalog, err := d.ctx.Catalog()
	if err != nil {
		return 0, refusedMalformed
	}
	root, _ := catalog.Find("Pages")
	tree := pageTree{document: d, seen: map[int]bool{}}
	if err := tree.walk(root, 1, 0); err != nil {
		return 0, err
	}
	if tree.pages == 0 {
		return 0, refusedNoPages
	}
	declared := 0.0
	if dict, ok := d.resolve(root).(types.Dict); ok {
		declared, _ = d.number(d.entry(dict, "Count"))
	}
	if declared > maxPages {
		return 0, refusedPages
	}
	return max(tree.pages, int(declared)), nil
}

// walk visits a node and its descendants; unit is the current user unit.
func (t *pageTree) walk(o types.Object, unit float64, depth int) error {
	if ref, ok := o.(types.IndirectRef); ok {
		number := ref.ObjectNumber.Value()
		if t.seen[number] {
			return nil
		}
		t.seen[number] = true
	}
	node, ok := t.document.resolve(o).(types.Dict)
	if !ok {
		return nil
	}
	if t.nodes++; t.nodes > maxNodes {
		return refusedPages
	}
	if depth > maxNesting {
		return refusedNesting
	}
	if own, ok := t.document.number(t.document.entry(node, "UserUnit")); ok {
		unit = own
	}
	for _, box := range []string{"MediaBox", "CropBox"} {
		if err := t.box(t.document.entry(node, box), unit); err != nil {
			return err
		}
	}
	kids, inner := t.document.entry(node, "Kids").(types.Array)
	if !inner {
		if t.pages++; t.pages > maxPages {
			return refusedPages
		}
		return nil
	}
	for _, kid := range kids {
		if err := t.walk(kid, unit, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// box refuses a page box whose sides are longer than maxSide. The renderer replaces a box that is missing or is not a rectangle.
func (t *pageTree) box(o types.Object, unit float64) error {
	sides, ok := o.(types.Array)
	if !ok || len(sides) != 4 {
		return nil
	}
	var corner [4]float64
	for i, side := range sides {
		corner[i], _ = t.document.number(t.document.resolve(side))
	}
	longest := unit * max(math.Abs(corner[2]-corner[0]), math.Abs(corner[3]-corner[1]))
	if !(longest <= maxSide) {
		return refusedBox
	}
	return nil
}

// number reads an integer or a real.
func (d *document) number(o types.Object) (float64, bool) {
	switch o := o.(type) {
	case types.Integer:
		return float64(o.Value()), true
	case types.Float:
		return o.Value(), true
	}
	return 0, false
}
