package pages

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown parses CommonMark with tables and strikethrough, and without HTML and link definitions, which would hide text.
var markdown = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
		util.Prioritized(extension.NewStrikethroughParser(), 500),
	),
	parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
	parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
)

// paragraphs parses paragraphs alone.
var paragraphs = parser.NewParser(parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 100)))

// maxBrackets is how many brackets of links a text may have, and manyQuotes a line with more marks than people quote: the parser's
// time grows with their square. A text beyond them is shown as paragraphs.
const maxBrackets = 500

var manyQuotes = regexp.MustCompile(`(?m)^[ \t]*(>[ \t]*){32}`)

// parseMarkdown parses a text that has passed through Visible.
func parseMarkdown(source []byte) ast.Node {
	if bytes.Count(source, []byte("[")) > maxBrackets || manyQuotes.Match(source) {
		return paragraphs.Parse(text.NewReader(source))
	}
	return markdown.Parse(text.NewReader(source))
}
