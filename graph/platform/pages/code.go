package pages

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

var (
	// codeLine matches a line that is more likely code than a sentence.
	codeLine = regexp.MustCompile(`^\s*((def|class|if|elif|else|for|while|try|except|finally|with|switch|case|func|function|fn|struct|type)\b.*[:{(]\s*(#.*|//.*)?$` +
		`|(return|raise|print|echo|yield|throw|await)\b.*[\])}"'\w]\s*$|import \w+(, ?\w+)*$|from \S+ import |#include|"""|'''|//|/\*|#!` +
		`|(var |let |const )?[\w.,\[\]() ]+ ([-+*/]?=|:=) ?\S)|[;{}]\s*$|\w\(.*\)\s*$`)
	indentedLine = regexp.MustCompile(`(?m)^(  +|\t)\S`)
)

// maxCodeLine is the number of bytes from which on a line is a sentence.
const maxCodeLine = 120

// codeRun returns the last block of a program that begins with the block n and that its author has not marked as code; nil if none begins
// there. The program is a run of paragraphs whose lines are mostly code. At least one of them has indented lines.
func (w *proseWriter) codeRun(n ast.Node) (last ast.Node) {
	if w.sentencesTo != nil { // within a run that was looked at
		if w.sentencesTo == n {
			w.sentencesTo = nil
		}
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

// between is the source from the first line of a block to the last line of another, with the blanks that lines begin with.
func (w *proseWriter) between(first, last ast.Node) string {
	begin := first.Lines().At(0).Start
	begin = bytes.LastIndexByte(w.source[:begin], '\n') + 1
	end := last.Lines().At(last.Lines().Len() - 1).Stop
	return string(w.source[begin:end])
}
