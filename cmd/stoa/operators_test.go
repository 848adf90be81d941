package main

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// givenToken is an operators' token of the shortest accepted length.
const givenToken = "given-by-the-test-0123456789abcd"

func (s *testServer) operatorStatus(token string) int {
	s.t.Helper()
	return s.postGraphQL(token, "{settings{feeBps}}").status
}

func TestOperatorToken(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	info := graphtest.Got(os.Stat(filepath.Join(s.data, operatorTokenFile)))(t)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	token := s.operatorToken()
	require.GreaterOrEqual(t, len(token), 43)
	require.Equal(t, http.StatusOK, s.operatorStatus(token))
	require.Equal(t, http.StatusUnauthorized, s.operatorStatus("wrong"))
	require.NotContains(t, s.log.String(), token)

	folder := t.TempDir()
	written := map[string]string{"database": graphtest.NewDatabase(t), "token": givenToken}
	for name, secret := range written {
		written[name] = filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(written[name], []byte(secret+"\n"), 0o600))
	}
	read := startServer(t, "STOA_DATABASE_URL_FILE="+written["database"], "STOA_OPERATOR_TOKEN_FILE="+written["token"],
		"STOA_SECRET_KEY_FILE="+sharedKey)
	require.Equal(t, http.StatusOK, read.operatorStatus(givenToken))
	require.NoFileExists(t, filepath.Join(read.data, operatorTokenFile))
	require.NoDirExists(t, filepath.Join(read.data, "postgres"), "it uses the database of the file")
}

func TestOperatorTokenFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var kept operatorSettings
	first := graphtest.Got(kept.token(folder))(t)
	require.NoError(t, makeSecret(filepath.Join(folder, operatorTokenFile), base64.RawURLEncoding), "somebody was faster")
	require.Equal(t, first, graphtest.Got(kept.token(folder))(t))
	require.Len(t, graphtest.Got(os.ReadDir(folder))(t), 1)

	require.NoError(t, os.WriteFile(filepath.Join(folder, operatorTokenFile), []byte("\n"), 0o600))
	require.ErrorContains(t, graphtest.Err(kept.token(folder)), "is empty")
}

func TestOperatorTokenRules(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"given":                           "--operator-token has 5 characters and must have at least 32",
		givenToken[1:]:                    "--operator-token has 31 characters and must have at least 32",
		givenToken + " and more":          "--operator-token may hold only ASCII",
		strings.Repeat("\u00e9", 40):      "--operator-token may hold only ASCII",
		strings.Repeat("token\n", 8)[:46]: "--operator-token may hold only ASCII",
	} {
		err := operatorSettings{OperatorToken: token}.Validate()
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), token)
	}
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, operatorTokenFile), []byte("written by hand\n"), 0o600))
	require.ErrorContains(t, graphtest.Err(operatorSettings{}.token(folder)), "may hold only")
	require.NoError(t, os.WriteFile(filepath.Join(folder, operatorTokenFile), []byte("written-by-hand\n"), 0o600))
	require.ErrorContains(t, graphtest.Err(operatorSettings{}.token(folder)), operatorTokenFile+" has 15 characters")
	require.NoError(t, operatorSettings{OperatorToken: givenToken}.Validate())
}

// An operator writes to an owner from the terminal: once for each operation, and without seeing the address.
func TestConsoleMailsAnOwner(t *testing.T) {
	t.Parallel()
	w, s := ownServer(t, fileMails...)
	o := newOperatorConsole(t, s)
	ada := s.join("Agent", "agent")
	mail := []string{"bots", "mail-owner", ada.Handle, "Please look\nat its orders.", "--reason=two are late"}
	_, _, stderr := o.run(mail...)
	require.Contains(t, stderr, "no owner with a verified address")
	w.Exec("INSERT INTO owner_emails (address, created_at, passports) VALUES ('wells@example.org', now(), 1)")
	w.Exec(`INSERT INTO bot_owners (bot_id, address, verified_at, confirmed_at, documents)
		VALUES ($1, 'wells@example.org', now(), now(), '[]')`, ada.ID)

	mail = append(mail, "--operation-id=019b0000-abcd-7000-8000-00000000000f")
	said := o.text(mail...)
	require.Regexp(t, `Address +w\*\*\*@example\.org`, said)
	require.NotContains(t, said, "wells")
	require.Regexp(t, `Repeated +yes`, o.text(mail...))
	eventually(t, func() bool { return w.Count("SELECT count(*) FROM mails WHERE sent_at IS NOT NULL") == 1 }, "it is not sent")
	text := strings.ReplaceAll(readMail(t, s.data).Text, "\r\n", "\n")
	require.Contains(t, text, `about your agent "`+ada.Handle+"\":\n\n> Please look\n> at its orders.\n")
	require.NotContains(t, strings.Join(strings.Fields(o.text("audit")), " "), "Please look")
	require.Zero(t, w.Count("SELECT count(*) FROM mail_texts WHERE text IS NOT NULL"))
}

// An operator who was invited acts under their name, whatever --as says, until the token is revoked. Cases, presets, operators and the
// shift are read in a terminal.
func TestOperatorsByName(t *testing.T) {
	t.Parallel()
	o := ownConsole(t)
	o.flags = o.flags[:2]
	require.Equal(t, "Nothing there.\n", o.text("operators"))
	token := runJSON[map[string]any](o, "invite", "Kim Example", "--reason=joins us")["token"].(string)
	kim := &operatorConsole{o.testServer, []string{o.flags[0], "--token=" + token, "--as=Ben"}}
	kim.text("presets", "write", "--name=Swindle", "--answer=We suspended it.", "--suspend", "--reason=often needed")
	require.Contains(t, o.text("presets"), "We suspended it.")
	entries := runJSON[[]row](o, "audit")
	require.Equal(t, []any{"writePreset", "inviteOperator"}, []any{entries[0]["procedure"], entries[1]["procedure"]})
	require.Equal(t, []any{"Kim Example", "operator"}, []any{entries[0]["operator"], entries[1]["operator"]})
	require.Contains(t, kim.text("operators"), "Kim Example")
	shift := kim.text("shift", "--since=7d")
	require.Contains(t, shift, "Kim Example  writePreset")

	reporter, swindler := o.testServer.join("Agent", "agent"), o.testServer.join("Agent", "agent")
	require.NoError(t, reporter.Do(t.Context(), http.MethodPost, "/feedback", row{
		"kind": "report", "text": "It asks for tokens.", "subject": row{"type": "bot", "id": swindler.ID},
	}, nil))
	require.Contains(t, kim.text("cases"), swindler.Handle)
	kim.text("bots", "suspend", swindler.Handle, "--reason=a swindler")
	require.Equal(t, "suspended", runJSON[map[string]any](kim, "bots", "show", swindler.Handle)["state"])
	require.Equal(t, "suspended", runJSON[[]map[string]any](kim, "bots", "list", "--search="+swindler.Handle)[0]["state"])
	require.Equal(t, swindler.Handle, runJSON[[]map[string]any](kim, "cases")[0]["bot"].(map[string]any)["handle"])

	o.text("operators", "revoke", "kim example", "--reason=left us")
	fails(t, exitFailure, "unauthorized")(kim.run("settings"))
	fails(t, exitFailure, "not_found")(o.run("operators", "revoke", "nobody", "--reason=left us"))
}

var (
	// operatorCommands are calls of `stoa operator` in code quotes and code blocks of documents.
	operatorCommands = regexp.MustCompile("(?m)(?:`stoa operator ([^`]+)`|^(?:    |\\$ )?(?:docker exec … )?(?:bin/)?stoa operator (\\S.*)$)")
	shellWords       = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
	shellComment     = regexp.MustCompile(`\s# .*$`)
)

// Every call of `stoa operator` in a document is understood, by the command line and by the server.
func TestDocumentedOperatorCommands(t *testing.T) {
	t.Parallel()
	o := ownConsole(t)
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

// refusedOnPurpose matches the answers to examples about missing things, or things that need mail.
var refusedOnPurpose = regexp.MustCompile(`\((not_found|invalid_input|\w+_setup_pending|service_unavailable|state_conflict)\)`)
