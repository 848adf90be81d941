package inspection

import (
	"math"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// pageTree is a walk over a PDF's page tree, which may lie about itself: in its counts, by cycles, by sheer size.
type pageTree struct {
	document *document
	seen     map[int]bool
	nodes    int
	pages    int
}

// pages returns how many pages there are: the larger of the root's count and the number of pages in the tree.
func (d *document) pages() (count int, err error) {
	defer func() {
		if recover() != nil {
			count, err = 0, refusedMalformed
		}
	}()
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

// box refuses a page box no page has. The renderer replaces one that is missing or no rectangle.
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
