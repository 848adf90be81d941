package pages

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// maxWords bounds the bytes of a text that Words looks at.
const maxWords = 4096

// Words is the beginning of a text that may be Markdown as people would read it aloud: without marks, tables, code and rules, its blocks
// separated by empty lines. A text that has nothing else is returned unchanged. It has passed through Visible.
func Words(s string) string {
	shown := strings.Trim(Visible(s), "\n")
	if len(shown) > maxWords {
		shown = truncate(shown, maxWords)
	}
	w := &proseWriter{source: []byte(shown)}
	var blocks []string
	for n := parseMarkdown(w.source).FirstChild(); n != nil; n = n.NextSibling() {
		if last := w.codeRun(n); last != nil {
			n = last
			continue
		}
		blocks = w.readAloud(blocks, n)
	}
	if len(blocks) == 0 {
		return shown
	}
	return strings.Join(blocks, "\n\n")
}

// readAloud adds the words of a block, and of those in it.
func (w *proseWriter) readAloud(blocks []string, n ast.Node) []string {
	switch n.(type) {
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
		words := strings.TrimSpace(string(util.UnescapePunctuations([]byte(w.plain(n)))))
		if words == "" || isAligned(w.raw(n)) {
			return blocks
		}
		return append(blocks, words)
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.ThematicBreak, *extension.Table:
		return blocks
	}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		blocks = w.readAloud(blocks, child)
	}
	return blocks
}
