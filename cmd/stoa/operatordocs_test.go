package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// operatorCommands are calls of `stoa operator` in code quotes and code blocks of documents.
	operatorCommands = regexp.MustCompile("(?m)(?:`stoa operator ([^`]+)`|^(?:    |\\$ )?(?:docker exec … )?(?:bin/)?stoa operator (\\S.*)$)")
	shellWords       = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
	shellComment     = regexp.MustCompile(`\s# .*$`)
)

// Every call of `stoa operator` in a document is understood, by the command line and by the server.
func TestDocumentedOperatorCommands(t *testing.T) {
	t.Parallel()
	o := newOperatorConsole(t, ownServer(t))
	ada := o.testServer.join("Agent", "agent")
	folder := t.TempDir()
	terms := filepath.Join(folder, "terms.txt")
	require.NoError(t, os.WriteFile(terms, []byte("Be kind."), 0o600))
	const nobody = "019b0000-abcd-7000-8000-00000000000f"
	samples := map[string]string{
		"jun": ada.Handle, "<handle>": ada.Handle, "<bot id>": ada.ID, "terms.txt": terms, "PATH": filepath.Join(folder, "saved"),
		"ID": nobody, "ORDER": nobody, "FILE": nobody, "…": "a reason",
	}
	seen := map[string]bool{}
	for name, text := range documents(t) {
		for _, found := range operatorCommands.FindAllStringSubmatch(text, -1) {
			line := shellComment.ReplaceAllString(strings.Join(strings.Fields(found[1]+found[2]), " "), "")
			line = strings.ReplaceAll(line, "<bot id>", ada.ID)
			if seen[line] || strings.Contains(line, "--help") { // help ends the process
				continue
			}
			seen[line] = true
			args := shellWords.FindAllString(line, -1)
			for i, word := range args {
				args[i] = strings.Trim(word, `'"`)
				if sample, ok := samples[args[i]]; ok {
					args[i] = sample
				}
			}
			if i := slices.Index(args, "--as"); i < 0 {
				args = append(args, "--as=Ada")
			}
			code, _, stderr := o.run(args...)
			if code == exitUsage && strings.Contains(stderr, "--reason is needed") {
				code, _, stderr = o.run(append(args, "--reason=as documented")...)
			}
			named := code == exitUsage && strings.Contains(stderr, `expected "<`) // a sentence about a command
			if code != 0 && !named && !refusedOnPurpose.MatchString(stderr) {
				t.Errorf("%s: stoa operator %s: %d %s", name, line, code, stderr)
			}
		}
	}
	require.Greater(t, len(seen), 35)
}

// refusedOnPurpose are the answers to examples about things that are not there, or that need mail.
var refusedOnPurpose = regexp.MustCompile(`\((not_found|invalid_input|\w+_setup_pending|service_unavailable|state_conflict)\)`)
