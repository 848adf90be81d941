package db

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// texts are pieces of SQL that several statements share, by name. A text has a heading as a statement has, and stands before its use:
//
//	-- text: brief(b, author)
//	b.id AS "author.id", b.handle AS "author.handle"
//
// A statement, or a later text, includes it by its name. It passes other words for those of the heading, which are then replaced
// wherever they stand in the text:
//
//	SELECT o.id, :brief(c, customer) FROM …
//
// An include is written as a parameter is, so that psql and editors that know parameters read a statement as it stands in its file.
type texts map[string]*sharedText

type sharedText struct {
	words []string
	body  string
	used  bool
}

func (all texts) add(name string, replaced []string, body string) error {
	if all[name] != nil {
		return errors.New("there are two texts of this name")
	}
	body, err := all.expand(replaceTokens(body, func(found string) string {
		if strings.HasPrefix(found, "--") {
			return ""
		}
		return found
	}))
	all[name] = &sharedText{words: replaced, body: strings.TrimSpace(body)}
	return err
}

// expand puts texts in place of their includes.
func (all texts) expand(body string) (string, error) {
	var wrong error
	body = replaceTokens(body, func(found string) string {
		parts := token.FindStringSubmatch(found)
		text := all[parts[1]]
		if text == nil {
			return found
		}
		text.used = true
		passed := words(parts[2])
		if len(passed) != len(text.words) {
			wrong = fmt.Errorf("%s: the text has the words %q", found, text.words)
			return found
		}
		return text.with(passed)
	})
	return body, wrong
}

var word = regexp.MustCompile(`\w+`)

// with returns the text with other words.
func (t *sharedText) with(passed []string) string {
	return word.ReplaceAllStringFunc(t.body, func(found string) string {
		if i := slices.Index(t.words, found); i >= 0 {
			return passed[i]
		}
		return found
	})
}

// unused returns the names of the texts that nothing includes.
func (all texts) unused() []string {
	names := slices.Sorted(maps.Keys(all))
	return slices.DeleteFunc(names, func(name string) bool { return all[name].used })
}
