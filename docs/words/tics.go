package main

import (
	"regexp"
	"strings"
)

// A tic is a phrase that keeps coming back and that a reader must read twice.
type tic struct {
	// pattern is a regular expression in lower case. A blank is any white space; it matches at the beginning of a word only.
	pattern string
	why     string
	instead string
}

var tics = []tic{
	{`(is|are|was|were) what\b`, "hides the verb",
		"what it does or holds: `Config holds the settings`, `fence keeps a file in its folder`"},
	{`there (is|are|was|were) none\b`, "makes the reader look back for what is missing", "`if it has no …`, `nil if … is missing`"},
	{`told\b`, "makes data and programs speak", "receives, gets, is notified, reports, says"},
	{`tells?\b`, "makes data and programs speak", "reports whether, returns, shows, says"},
	{`hears?\b|heard\b`, "makes programs listen", "receives, gets, is notified, was last seen"},
	{`(nobody|somebody)('s)?\b`, "does not say who", "the role (no client, an operator), or the passive with `not`"},
	{`whoever\b`, "is a clause where a noun would do", "the role: the caller, an agent that …, anyone who …"},
	{`whatever (becomes|became|happens|happened) (of|to)\b`, "is a clause where a noun would do", "even if …"},
	{`of (which|whom)\b`, "inverts the sentence", "a second sentence, or `that`, `whose`, `where`"},
	{`of what\b`, "inverts the sentence", "the noun that `what` stands for"},
	{`(for|in) want of\b`, "is old", "because … is missing, if there is no …, without"},
	{`be (it|they)\b`, "is old", "also, either … or"},
	{`so many\b`, "does not say how many", "the number, that many, at most n"},
	{`in hand\b`, "is an idiom", "being handled, running, in progress; available"},
	{`struck\b`, "is a metaphor", "injected, happened, failed"},
	{`(brings?|brought|bringing) about\b`, "is an idiom", "causes, makes"},
	{`(makes?|made|making) nothing of\b`, "is an idiom", "ignores, does not understand"},
	{`(come|comes|came) (of it|of that|to nothing)\b`, "is an idiom", "follows, results; fails, has no effect"},
	{`as (it|they) (is|are)( now)?([.,;:)]|$)`, "does not say in which state", "unchanged, as stored, without …"},
	{`lack(s|ing)?\b.{0,60}\bof what\b`, "inverts the sentence", "which parts of … are missing"},
	{`of (its|their|his) own([.,;:)]|$| (and|as|at|but|for|from|has|in|is|on|or|so|that|to|whose|with)\b)`, "is longer than its meaning", "its own …, a separate …"},
}

// An exception is a sentence that may stay.
type exception struct {
	file   string // the end of its path
	phrase string // the passage contains it
	reason string
}

var exceptions = []exception{
	{"CHANGELOG.md", "", "what was released stays as it was written"},
	{"docs/words/tics.go", "", "the list"},
	{"docs/words/words_test.go", "", "examples"},
	{"docs/decisions/077-words.md", "", "examples"},
	{"mix/listen.go", "Heard counts", "a name"},
	{"rest/socket/property_test.go", "versions 1 to told", "a name"},
}

func (e exception) covers(name string, passage string) bool {
	return strings.HasSuffix(name, e.file) && strings.Contains(strings.Join(strings.Fields(passage), " "), e.phrase)
}

// matchers are the patterns of tics, in their order.
var matchers = func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, tic := range tics {
		all = append(all, regexp.MustCompile(`(?i)\b(?:`+strings.ReplaceAll(tic.pattern, " ", `\s+`)+`)`))
	}
	return all
}()
