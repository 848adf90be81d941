package pages

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown parses CommonMark with tables and strikethrough, but without HTML and link definitions, because these hide text.
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

// paragraphs parses only paragraphs.
var paragraphs = parser.NewParser(parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 100)))

// maxBrackets is how many link brackets a text may have; manyQuotes matches a line with too many quote markers (>). The parser's
// time grows with the square of both. A text above these limits is shown as paragraphs.
const maxBrackets = 500

var manyQuotes = regexp.MustCompile(`(?m)^[ \t]*(>[ \t]*){32}`)

// parseMarkdown parses a text that has passed through Visible.
func parseMarkdown(source []byte) ast.Node {
	if bytes.Count(source, []byte("[")) > maxBrackets || manyQuotes.Match(source) {
		return paragraphs.Parse(text.NewReader(source))
	}
	return markdown.Parse(text.NewReader(source))
}

var (
	// codeLine matches a line that is more likely code than a sentence.
	codeLine = regexp.MustCompile(`^\s*((def|class|if|elif|else|for|while|try|except|finally|with|switch|case|func|function|fn|struct|type)\b.*[:{(]\s*(#.*|//.*)?$` +
		`|(return|raise|print|echo|yield|throw|await)\b.*[\])}"'\w]\s*$|import \w+(, ?\w+)*$|from \S+ import |#include|"""|'''|//|/\*|#!` +
		`|(var |let |const )?[\w.,\[\]() ]+ ([-+*/]?=|:=) ?\S)|[;{}]\s*$|\w\(.*\)\s*$`)
	indentedLine = regexp.MustCompile(`(?m)^(  +|\t)\S`)
)

// maxCodeLine is the maximum number of bytes of a code line; a longer line is a sentence.
const maxCodeLine = 120

// codeRun returns the last block of an unmarked program that begins with the block n; nil if none begins there. The program is a
// run of paragraphs whose lines are mostly code. At least one of them has indented lines.
func (w *proseWriter) codeRun(n ast.Node) (last ast.Node) {
	if w.sentencesTo != nil { // within a run that was already examined
		if w.sentencesTo == n {
			w.sentencesTo = nil
		}
		return nil
	}
	if !bytes.Contains(w.source, []byte("\n  ")) && !bytes.Contains(w.source, []byte("\n\t")) { // most texts
		return nil
	}
	begin, certain := n, false
	for ; n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindParagraph && (last == nil || n.Kind() != ast.KindCodeBlock) {
			break
		}
		lines := w.between(n, n)
		if n.Kind() == ast.KindParagraph && !isCode(lines) {
			break
		}
		_, below, _ := strings.Cut(lines, "\n")
		certain = certain || n.Kind() == ast.KindCodeBlock || indentedLine.MatchString(below)
		last = n
	}
	if !certain {
		if last != begin {
			w.sentencesTo = last
		}
		return nil
	}
	return last
}

// isCode reports whether at least half of the lines are code.
func isCode(lines string) bool {
	all := strings.Split(strings.TrimRight(lines, "\n"), "\n")
	found := 0
	for _, line := range all {
		if len(line) <= maxCodeLine && codeLine.MatchString(line) {
			found++
		}
	}
	return 2*found >= len(all)
}

// between returns the source from the first line of one block to the last line of another, with leading blanks.
func (w *proseWriter) between(first, last ast.Node) string {
	begin := first.Lines().At(0).Start
	begin = bytes.LastIndexByte(w.source[:begin], '\n') + 1
	end := last.Lines().At(last.Lines().Len() - 1).Stop
	return string(w.source[begin:end])
}

// maxWords is how many bytes of a text Words parses, and fewBytes how many it parses first: parsing is most of the cost of a page
// with many excerpts. If the first bytes hold fewWords characters of words, that is enough for every page.
const maxWords, fewBytes, fewWords = 4096, 1024, 320

// wordCache holds the words of recently used texts of up to longestCached bytes. A page needs the words of a text up to three
// times, and the next page needs the same texts. The cache halves the processor time of the first page.
var wordCache, _ = lru.New[string, string](1000)

const longestCached = 16 << 10

// Words returns the beginning of a text that may be Markdown as people would read it aloud: without markup, tables, code and
// rules, with empty lines between blocks. If no words remain, it returns the text itself. The result has passed through Visible.
func Words(s string) string {
	if len(s) > longestCached {
		return findWords(s)
	}
	words, known := wordCache.Get(s)
	if !known {
		words = findWords(s)
		wordCache.Add(s, words)
	}
	return words
}

func findWords(s string) string {
	if len(s) > fewBytes {
		words := readWords(strings.Trim(Visible(truncate(s, fewBytes)), "\n"))
		if utf8.RuneCountInString(words) >= fewWords {
			return words
		}
	}
	shown := strings.Trim(Visible(s), "\n")
	if len(shown) > maxWords {
		shown = truncate(shown, maxWords)
	}
	if words := readWords(shown); words != "" {
		return words
	}
	return shown
}

// readWords returns the words of Markdown; empty if there are none.
func readWords(shown string) string {
	w := &proseWriter{source: []byte(shown)}
	var blocks []string
	for n := parseMarkdown(w.source).FirstChild(); n != nil; n = n.NextSibling() {
		if last := w.codeRun(n); last != nil {
			n = last
			continue
		}
		blocks = w.readAloud(blocks, n)
	}
	return strings.Join(blocks, "\n\n")
}

// readAloud adds the words of a block and of its inner blocks.
func (w *proseWriter) readAloud(blocks []string, n ast.Node) []string {
	switch n.(type) {
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
		words := strings.TrimSpace(string(util.UnescapePunctuations([]byte(w.plain(n)))))
		if words == "" || isAligned(w.raw(n)) {
			return blocks
		}
		return append(blocks, words)
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.ThematicBreak, *extended.Table:
		return blocks
	}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		blocks = w.readAloud(blocks, child)
	}
	return blocks
}
