package graph_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shortList is the number of columns that two SELECT lists may share in a row. More belong into a text (-- text: …), which both include.
const shortList = 4

// The columns of a card are written once: no two SELECT lists of the domains' .sql files name the same five columns in a row.
func TestNoListOfColumnsStandsTwice(t *testing.T) {
	t.Parallel()
	stands := make(map[string]string)
	for path, file := range sqlFiles(t) {
		for _, list := range selectLists(file) {
			for i := range len(list) - shortList {
				columns := strings.Join(list[i:i+shortList+1], ", ")
				assert.Empty(t, stands[columns], "%s: %s", path, columns)
				stands[columns] = path
			}
		}
	}
	require.NotEmpty(t, stands)
}

// The columns of an agent's brief are written once, whatever the names of the agent's row and of the field. An offer reads the
// brief of a counterpart that may not exist.
func TestBriefsIncludeTheirColumns(t *testing.T) {
	t.Parallel()
	key := regexp.MustCompile(`AS "(\w+)\.encryption_public_key"`)
	found := make(map[string]string)
	for path, file := range sqlFiles(t) {
		for _, match := range key.FindAllStringSubmatch(file, -1) {
			found[path] += match[1]
		}
	}
	require.Equal(t, map[string]string{"bots/brief.sql": "author", "orders/orders.sql": "counterpart"}, found)
}

func TestSelectLists(t *testing.T) {
	t.Parallel()
	require.Equal(t, [][]string{
		{"a", `f(b, c) AS "x.y"`, "(SELECT d, e FROM t)", "g"}, {"d", "e"}, {"1", "2"}, {":card"}, {"h", "i"}, {"j", "k"}, {"l"},
	}, selectLists(`-- name: x()
		SELECT a, f(b,
		c) AS "x.y", (SELECT d, e FROM t), g FROM t WHERE EXISTS (SELECT 1, 2) -- SELECT x, y
		UNION SELECT :card FROM t UNION select h, i
-- text: y(b)
j, k
-- name: z()
SELECT l`))
}

// sqlFiles returns the domains' .sql files by their path.
func sqlFiles(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sql" {
			return err
		}
		raw, err := os.ReadFile(path)
		found[filepath.ToSlash(path)] = string(raw)
		return err
	}))
	require.NotEmpty(t, found)
	return found
}

var (
	sqlHeading = regexp.MustCompile(`(?m)^-- (name|text): .*$`)
	sqlComment = regexp.MustCompile(`--[^\n]*|(?s:/\*.*?\*/)`)
	sqlWord    = regexp.MustCompile(`\w+|\s+|.`)
)

// selectLists returns the columns of each SELECT in a file, and the texts that may stand in one, in the order in which they begin.
func selectLists(file string) [][]string {
	file = sqlHeading.ReplaceAllStringFunc(file, func(heading string) string {
		if strings.HasPrefix(heading, "-- text") {
			return "; SELECT "
		}
		return ";"
	})
	words := sqlWord.FindAllString(sqlComment.ReplaceAllString(file, ""), -1)
	var lists [][]string
	for i, word := range words {
		if strings.EqualFold(word, "SELECT") {
			lists = append(lists, columnsOf(words[i+1:]))
		}
	}
	return lists
}

// columnsOf returns the columns that stand before the end of a SELECT list.
func columnsOf(words []string) []string {
	columns, depth := []string{""}, 0
	for _, word := range words {
		switch {
		case depth == 0 && slices.Contains([]string{"FROM", "UNION", "WHERE", ";", ")"}, strings.ToUpper(word)):
			return trimmed(columns)
		case depth == 0 && word == ",":
			columns = append(columns, "")
			continue
		case word == "(":
			depth++
		case word == ")":
			depth--
		}
		columns[len(columns)-1] += word
	}
	return trimmed(columns)
}

func trimmed(columns []string) []string {
	for i, column := range columns {
		columns[i] = strings.Join(strings.Fields(column), " ")
	}
	return columns
}
