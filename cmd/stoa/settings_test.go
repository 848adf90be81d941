package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/limits"
)

func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	password, empty := filepath.Join(folder, "password"), filepath.Join(folder, "empty")
	require.NoError(t, errors.Join(os.WriteFile(password, []byte("hunter2\n"), 0o600), os.WriteFile(empty, []byte("\n"), 0o600)))
	const server, from = "--smtp-url=smtp://stoa@mail.example", "--mail-from=Stoa <stoa@stoa.example>"
	for _, flags := range [][]string{
		{}, {server, from}, {server, from, "--smtp-password-file=" + password}, {"--smtp-url=file:mails", "--mail-from=stoa@stoa.example"},
	} {
		_, err := parse(append([]string{"serve"}, flags...), io.Discard, io.Discard)
		require.NoError(t, err, flags)
	}
	for complaint, flags := range map[string][]string{
		"duration":                        {"--token-ttl=soon"},
		"--token-ttl must be at least 1s": {"--token-ttl=1ms"},
		"cook":                            {"--roles=api,cook"},
		"--roles must name at least one":  {"--roles="},
		"many":                            {"--limit-sockets=many"},
		"--limit-messages-per-minute cannot be below 0":                  {"--limit-messages-per-minute=-1"},
		"--limit-mutations-per-minute cannot be above 2147483647":        {"--limit-mutations-per-minute=3000000000"},
		"--limit-text-bytes-per-day cannot be above 2147483647":          {"--limit-text-bytes-per-day=4294967296"},
		`--listen must be an address such as 127.0.0.1:8080, not "8080"`: {"--listen=8080"},
		"--operator-listen must be an address":                           {"--operator-listen=127.0.0.1:http"},
		"10.0.0.0":                                                       {"--trusted-proxies=10.0.0.0"},
		"is not an origin":                                               {"--allowed-origins=https://example.org/path"},
		"without a path":                                                 {"--base-url=https://stoa.example/"},
		"--files-url must be a URL such as s3://":                        {"--files-url=ftp://files"},
		"is no vkey":                             {"--witnesses=w+00000000+AAAA https://witness.example"},
		"xml":                                    {"--log-format=xml"},
		"loud":                                   {"--log-level=loud"},
		"--database-url is not a connection URL": {"--database-url=postgres://u:hunter2@h:port/db"},
		"--database-url is not a connection URL such as": {"--database-url=mysql://u:hunter2@h/db"},
		"is not a connection URL":                        {"--database-url=postgres://u:hunter2%zz@h/db"},
		"--database-replica-url needs --database-url":    {"--database-replica-url=postgres://stoa@db/stoa"},
		"--database-direct-url needs --database-url":     {"--database-direct-url=postgres://stoa@db/stoa"},
		"at least 3s":                               {"--database-replica-max-lag=10ms"},
		"--smtp-url is missing":                     {"--mail-from=stoa@stoa.example"},
		"--smtp-url is missing: without it no mail": {"--smtp-password-file=" + password},
		"--smtp-url must be a URL such as":          {"--smtp-url=smtp://stoa:hunter2%zz@mail.example", from},
		"--smtp-url may only have":                  {"--smtp-url=smtp://mail.example?starttls=perhaps", from},
		"--smtp-url has a password":                 {"--smtp-url=smtp://mail.example", from, "--smtp-password-file=" + password},
		"--mail-from is missing":                    {"--smtp-url=smtp://stoa:hunter2@mail.example"},
		"--mail-from must be an address":            {server, "--mail-from=Stoa"},
		"--mail-from must have a domain":            {server, "--mail-from=stoa@localhost"},
		"--smtp-password-file: open":                {server, from, "--smtp-password-file=" + folder + "/none"},
		"empty is empty":                            {server, from, "--smtp-password-file=" + empty},
		"--smtp-ca-file: open":                      {server, from, "--smtp-ca-file=" + folder + "/none"},
		"password holds no certificate in PEM":      {server, from, "--smtp-ca-file=" + password},
	} {
		_, err := parse(append([]string{"serve"}, flags...), io.Discard, io.Discard)
		require.ErrorContains(t, err, complaint)
		require.NotContains(t, err.Error(), "hunter2")
	}
	code, stdout, stderr := runProgram(t, []string{"serve"}, "STOA_TOKEN_TTL=soon")
	require.Equal(t, exitUsage, code, stderr)
	require.Empty(t, stdout)
	require.Regexp(t, `^.*--token-ttl.*\n$`, stderr, "one line")
}

func TestInvalidCommandLines(t *testing.T) {
	t.Parallel()
	mail := []string{"mail", "test", "--data-dir=" + t.TempDir(), "--smtp-url=file:mails", "--mail-from=stoa@stoa.example"}
	for said, args := range map[string][]string{
		"(see stoa --help)":                 nil,
		"argument sing":                     {"sing"},
		"(see stoa serve --help)":           {"serve", "--louder"},
		"argument now":                      {"serve", "now"},
		"(see stoa seed --help)":            {"seed", "--agents=1"},
		"(see stoa agent --help)":           {"agent"},
		"(see stoa agent offer --help)":     {"agent", "offer", "--loud"},
		"(see stoa agent act --help)":       {"agent", "act"},
		"must be on this machine":           {"listen", "--hook", "http://example.org/"},
		"--hook must be an address":         {"listen", "--hook", "ftp://127.0.0.1/"},
		"can't be used together":            {"listen", "--json", "--exec", "true"},
		"used together":                     {"listen", "--hook", "http://127.0.0.1/", "--exec", "true"},
		"--database is missing":             {"doctor", "--json"},
		"--database is missing: ":           {"doctor", "--database-direct=postgres:///stoa"},
		"--database is missing: --database": {"doctor", "--database-spread=SELECT 1"},
		"--format":                          {"openapi", "--format=xml"},
		"--base-url must be an origin":      {"openapi", "--base-url=stoa.example"},
		"without a path":                    {"openapi", "--base-url=https://stoa.example/api"},
		"mail is not set up":                {"mail", "test", "ada@example.org"},
		"the address must be one":           append(mail, "Ada <ada@example.org>"),
		"the address must not hold":         slices.Concat(mail, []string{"ada@example.org\r\nBcc: bob@example.org"}),
		"--mail-from is missing":            {"mail", "test", "ada@example.org", "--smtp-url=file:mails"},
	} {
		fails(t, exitUsage, said)(runInProcess(args...))
	}
	// An error of kong keeps its cause, which hint examines, unless its text is replaced.
	for said, args := range map[string][]string{
		"none.pem: no such file or directory (see stoa agent import --help)": {"agent", "import", "none.pem"},
		"--confirm: a value must follow (see stoa agent erase --help)":       {"agent", "erase", "--confirm"},
	} {
		_, err := parse(args, io.Discard, io.Discard)
		require.ErrorContains(t, err, said)
		require.Equal(t, args[1] == "import", errors.As(err, new(*kong.ParseError)))
	}
	for line, wanted := range map[string]string{
		"--help": "Run the server.", "help": "Run the server.", "help serve": "Usage: stoa serve",
		"help operator bots suspend": "Usage: stoa operator bots suspend",
	} {
		require.Contains(t, output(t, strings.Fields(line)), wanted, line)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"version", "--version", "-v"} {
		require.Regexp(t, `^stoa \S+ go\S+ \w+/\w+\n$`, succeeds(t)(runInProcess(word)), word)
	}
}

// The defaults of the limits are the values of their table, and docs/running.md lists every setting with its default. Every
// setting is a flag of serve and a variable of the same name.
func TestDefaults(t *testing.T) {
	t.Parallel()
	var all commands
	chosen := graphtest.Got(graphtest.Got(kong.New(&all, kong.DefaultEnvars(envPrefix)))(t).Parse([]string{"serve"}))(t)
	require.Equal(t, limits.Defaults(), all.Serve.Limit)
	require.Equal(t, 30*24*time.Hour, all.Serve.TokenTTL)

	manual := readFile(t, "../../docs/running.md")
	// These settings have no default; the documentation describes it in words.
	words := map[string]string{
		"base-url": "`http://` and the listen address", "operator-token": "made at the first start",
		"secret-key-file": "made at the first start",
	}
	for _, flag := range chosen.Selected().Flags {
		require.Equal(t, []string{envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))}, flag.Envs)
		want := words[flag.Name]
		switch {
		case want != "":
			require.Empty(t, flag.Default, flag.Name)
		case flag.IsBool():
			want = "`false`"
		case strings.HasPrefix(flag.Name, "limit-"):
			want = flag.Default
			if figure, err := strconv.Atoi(flag.Default); strings.Contains(flag.Name, "bytes") && err == nil {
				want = bounds.Size(figure)
			}
		case flag.Default != "":
			want = "`" + flag.Default + "`"
		}
		row := strings.Join(strings.Fields("| `--"+flag.Name+"` | "+want+" |"), " ")
		require.Contains(t, manual, row+" ", "the default in docs/running.md")
	}
}

func TestRedactURL(t *testing.T) {
	t.Parallel()
	for address, shown := range map[string]string{
		"postgres://u:hunter2@db.example:5432/stoa?sslmode=disable": "postgres://db.example:5432/stoa",
		"postgres:///stoa?host=/run/postgresql&password=hunter2":    "postgres:///stoa",
		"host=db.example password=hunter2":                          "(as set)",
		"postgres://u:hunter2%zz@h/db":                              "(as set)",
	} {
		require.Equal(t, shown, redactURL(address))
	}
}

// Shells ask for completions when the tab key is pressed.
func TestCompletion(t *testing.T) {
	t.Parallel()
	complete := func(line string) string { return output(t, nil, "COMP_LINE="+line) }
	require.Contains(t, complete("stoa op"), "operator")
	require.Contains(t, complete("stoa operator bots "), "suspend")
	require.Contains(t, complete("stoa operator bots suspend --rea"), "--reason")
	require.ElementsMatch(t, []string{"expired", "refused", "sent", "waiting"}, strings.Fields(complete("stoa operator list mails --state ")))
	require.Contains(t, complete("stoa operator maintenance "), "cleanup")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		require.Contains(t, output(t, []string{"completion", "-c", shell}), "complete ")
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		path := t.TempDir() + "/init"
		require.NoError(t, os.WriteFile(path, []byte(output(t, []string{"completion", "-c", "bash"})), 0o600))
		require.NoError(t, exec.Command(bash, "-c", "source "+path+" && complete -p stoa").Run())
	}
}

// Commands of an installed package find database, files and the operators' token by the settings of the service, in any folder.
// The environment overrides the file.
func TestCommandsReadTheSettingsOfThePackage(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	folder := t.TempDir()
	text := "# Settings of the service\nSTOA_DATA_DIR='" + s.data + "'\nSTOA_OPERATOR_LISTEN=" + s.operator +
		"\nSTOA_LISTEN=\"" + strings.TrimPrefix(s.url, "http://") + "\"\nSTOA_DATABASE_URL=" + sharedWorld.World(t).URL + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, packagedFile), []byte(text), 0o600))

	require.Contains(t, succeeds(t)(runIn(t, folder, []string{"backup"})), "holds the database")
	require.DirExists(t, filepath.Join(s.data, "backups"))
	require.NotEmpty(t, succeeds(t)(runIn(t, folder, []string{"operator", "settings"})))
	require.Contains(t, succeeds(t)(runIn(t, folder, []string{"health"})), "ok")

	fails(t, exitUsage, "no token")(runIn(t, folder, []string{"operator", "settings"}, "STOA_DATA_DIR="+t.TempDir()))
	require.Len(t, graphtest.Got(os.ReadDir(folder))(t), 1, "nothing is made in the folder")
}

// A secret of the environment overrides the package's secret, even if either is in a file.
func TestTheEnvironmentsSecretWins(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	token := s.operatorToken()
	folder, kept := t.TempDir(), filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(kept, []byte(token+"\n"), 0o600))
	for packaged, own := range map[string]string{
		"STOA_OPERATOR_TOKEN=" + strings.Repeat("x", 40):       "STOA_OPERATOR_TOKEN_FILE=" + kept,
		"STOA_OPERATOR_TOKEN_FILE=" + kept + ".of-another-one": "STOA_OPERATOR_TOKEN=" + token,
	} {
		text := "STOA_OPERATOR_LISTEN=" + s.operator + "\n" + packaged + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(folder, packagedFile), []byte(text), 0o600))
		succeeds(t)(runIn(t, folder, []string{"operator", "settings"}, own))
	}
}

// If root runs a command of an installed package, its files belong to the account of the service.
func TestRootActsAsTheOwnerOfTheData(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another account")
	}
	folder, err := os.MkdirTemp("", "stoa-owned-") //nolint:usetesting // the folders above t.TempDir are closed to others
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o755)) // the other account must get there
	data := filepath.Join(folder, "data")
	require.NoError(t, os.Mkdir(filepath.Join(folder, "cwd"), 0o700))
	require.NoError(t, os.Rename(migratedData(t), data))
	require.NoError(t, os.Mkdir(filepath.Join(data, "files"), 0o700))
	owner := graphtest.Got(user.Lookup("nobody"))(t)
	out, err := exec.CommandContext(t.Context(), "chown", "-R", owner.Uid+":"+owner.Gid, data).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "cwd", packagedFile), []byte("STOA_DATA_DIR="+data+"\n"), 0o600))

	for _, args := range [][]string{{"key", "accept"}, {"backup", "--with-key"}, {"backup", "verify"}, {"migrate"}} {
		succeeds(t)(runIn(t, filepath.Join(folder, "cwd"), args))
	}
	require.NoError(t, filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		info := graphtest.Got(entry.Info())(t)
		require.Equal(t, owner.Uid, strconv.Itoa(int(info.Sys().(*syscall.Stat_t).Uid)), path)
		return nil
	}))
}

// The file is read as systemd reads it for the service.
func TestParseEnvironment(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"", "# STOA_A=comment", "; STOA_A=comment", "STOA_PLAIN=value", "  STOA_SPACES = a value  ", `STOA_DOUBLE="a \"b\" \$c \n d"`,
		`STOA_SINGLE='a "b" \n $c'`, `STOA_ESCAPED=a\ b\\c`, "STOA_TWICE=1", "STOA_TWICE=2", "STOA_EMPTY=", "no assignment", "=x",
		"1STOA=x", "STOA_LONG=one \\", "two", `STOA_MIXED=a"b c"'d'`, "STOA_URL=postgres://u:p%20w@h/db?a=b&c=d#e", "STOA_CRLF=x\r",
	}, "\n")
	require.Equal(t, map[string]string{
		"STOA_PLAIN": "value", "STOA_SPACES": "a value", "STOA_DOUBLE": `a "b" $c \n d`, "STOA_SINGLE": `a "b" \n $c`,
		"STOA_ESCAPED": `a b\c`, "STOA_TWICE": "2", "STOA_EMPTY": "", "STOA_LONG": "one two", "STOA_MIXED": "ab cd",
		"STOA_URL": "postgres://u:p%20w@h/db?a=b&c=d#e", "STOA_CRLF": "x",
	}, parseEnvironment(text))
}

// Every quoted value is read unchanged, and no text makes the parser fail.
func TestQuotedValues(t *testing.T) {
	t.Parallel()
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching("[^\r\n]*").Draw(t, "value")
		require.Equal(t, value, parseEnvironment(`A="` + quote.Replace(value) + `"`)["A"])
		_ = parseEnvironment(rapid.String().Draw(t, "text"))
	})
}
