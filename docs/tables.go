package docs

import (
	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// wideTables lets the Tab key reach every table: a table that is wider than the window scrolls separately, and the arrow keys
// scroll the element with the focus. Right-aligned cells get the class of numbers: HTML has no attribute align any more, and the
// pages' policy forbids the attribute style.
type wideTables struct{}

func (wideTables) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // nothing here fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *tables.Table:
			n.SetAttributeString("tabindex", []byte("0"))
		case *tables.TableCell:
			if n.Alignment == tables.AlignRight {
				n.SetAttributeString("class", []byte("number"))
			}
		}
		return ast.WalkContinue, nil
	})
}
