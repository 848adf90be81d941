package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
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
	for name, c := range map[string]struct{ flag, complaint string }{
		"duration":             {"--token-ttl=soon", "duration"},
		"short duration":       {"--token-ttl=1ms", "--token-ttl must be at least 1s"},
		"role":                 {"--roles=api,cook", "cook"},
		"no role":              {"--roles=", "--roles must name at least one"},
		"number":               {"--limit-sockets=many", "many"},
		"negative limit":       {"--limit-messages-per-minute=-1", "--limit-messages-per-minute cannot be below 0"},
		"uncountable limit":    {"--limit-mutations-per-minute=3000000000", "--limit-mutations-per-minute cannot be above 2147483647"},
		"uncountable bytes":    {"--limit-text-bytes-per-day=4294967296", "--limit-text-bytes-per-day cannot be above 2147483647"},
		"address":              {"--listen=8080", `--listen must be an address such as 127.0.0.1:8080, not "8080"`},
		"port":                 {"--operator-listen=127.0.0.1:http", "--operator-listen must be an address"},
		"network":              {"--trusted-proxies=10.0.0.0", "10.0.0.0"},
		"origin":               {"--allowed-origins=https://example.org/path", "is not an origin"},
		"base URL":             {"--base-url=https://stoa.example/", "without a path"},
		"object store":         {"--files-url=ftp://files", "--files-url must be a URL such as s3://"},
		"no mail server":       {"--mail-from=stoa@stoa.example", "--smtp-url is missing"},
		"no sender":            {"--smtp-url=smtp://stoa:hunter2@mail.example", "--mail-from is missing"},
		"witness":              {"--witnesses=w+00000000+AAAA https://witness.example", "is no vkey"},
		"log format":           {"--log-format=xml", "xml"},
		"log level":            {"--log-level=loud", "loud"},
		"database port":        {"--database-url=postgres://u:hunter2@h:port/db", "is not a connection URL"},
		"other database":       {"--database-url=mysql://u:hunter2@h/db", "is not a connection URL"},
		"password not encoded": {"--database-url=postgres://u:hunter2%zz@h/db", "is not a connection URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse([]string{"serve", c.flag}, io.Discard, io.Discard)
			require.ErrorContains(t, err, c.complaint)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestInvalidSettingEndsProgram(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := runProgram(t, []string{"serve"}, "STOA_TOKEN_TTL=soon")
	require.Equal(t, exitUsage, code, stderr)
	require.Empty(t, stdout)
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	require.Contains(t, stderr, "--token-ttl")
}

func TestUnknownCommands(t *testing.T) {
	t.Parallel()
	for line, command := range map[string]string{
		"": "stoa", "sing": "stoa", "serve --louder": "stoa serve", "serve now": "stoa serve", "seed --agents=1": "stoa seed",
		"agent": "stoa agent", "agent offer --loud": "stoa agent offer", "agent act": "stoa agent act",
	} {
		fails(t, exitUsage, "(see "+command+" --help)")(runInProcess(strings.Fields(line)...))
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

func serveFlags(t *testing.T) []*kong.Flag {
	t.Helper()
	parser := graphtest.Got(kong.New(new(commands), kong.DefaultEnvars(envPrefix)))(t)
	flags := graphtest.Got(parser.Parse([]string{"serve"}))(t).Selected().Flags
	require.Greater(t, len(flags), 15)
	return flags
}

// Every setting is a flag of serve and a variable of the same name.
func TestEverySettingHasAVariable(t *testing.T) {
	t.Parallel()
	for _, flag := range serveFlags(t) {
		require.Equal(t, []string{envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))}, flag.Envs)
	}
}

// The defaults of the limits are the values of their table, and docs/running.md lists every setting with its default.
func TestDefaults(t *testing.T) {
	t.Parallel()
	var all commands
	graphtest.OK(t)(graphtest.Got(kong.New(&all))(t).Parse([]string{"serve"}))
	require.Equal(t, limits.Defaults(), all.Serve.Limit)
	require.Equal(t, 30*24*time.Hour, all.Serve.TokenTTL)

	manual := readFile(t, "../../docs/running.md")
	// The documented defaults of settings that have none, in words.
	words := map[string]string{
		"base-url": "`http://` and the listen address", "operator-token": "made at the first start",
		"secret-key-file": "made at the first start",
	}
	for _, flag := range serveFlags(t) {
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
	require.Equal(t, "expired\nrefused\nsent\nwaiting\n", complete("stoa operator list mails --state "))
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
// The environment wins over the file.
func TestCommandsReadTheSettingsOfThePackage(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	folder := t.TempDir()
	text := "# Settings of the service\nSTOA_DATA_DIR='" + s.data + "'\nSTOA_OPERATOR_LISTEN=" + s.operator +
		"\nSTOA_LISTEN=\"" + strings.TrimPrefix(s.url, "http://") + "\"\nSTOA_DATABASE_URL=" + s.setting("STOA_DATABASE_URL") + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, packagedFile), []byte(text), 0o600))

	require.Contains(t, succeeds(t)(runIn(t, folder, []string{"backup"})), "holds the database")
	require.DirExists(t, filepath.Join(s.data, "backups"))
	require.NotEmpty(t, succeeds(t)(runIn(t, folder, []string{"operator", "settings"})))
	require.Contains(t, succeeds(t)(runIn(t, folder, []string{"health"})), "ok")

	fails(t, exitUsage, "no token")(runIn(t, folder, []string{"operator", "settings"}, "STOA_DATA_DIR="+t.TempDir()))
	require.Len(t, graphtest.Got(os.ReadDir(folder))(t), 1, "nothing is made in the folder")
}

// The error of a command line keeps its cause, by which hint decides, unless its text is replaced.
func TestAnErrorOfACommandLineKeepsItsCause(t *testing.T) {
	t.Parallel()
	for said, args := range map[string][]string{
		"none.pem: no such file or directory (see stoa agent import --help)": {"agent", "import", "none.pem"},
		"--confirm: a value must follow (see stoa agent erase --help)":       {"agent", "erase", "--confirm"},
	} {
		_, err := parse(args, io.Discard, io.Discard)
		require.ErrorContains(t, err, said)
		require.Equal(t, args[1] == "import", errors.As(err, new(*kong.ParseError)))
	}
}

// A secret of the environment wins over the one of the package, also if one of both is in a file.
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

// Files that root creates by a command of an installed package belong to the account of the service.
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

// Whatever a value is, quoted it is read as it was, and no text makes the parser fail.
func TestQuotedValues(t *testing.T) {
	t.Parallel()
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching("[^\r\n]*").Draw(t, "value")
		require.Equal(t, value, parseEnvironment(`A="` + quote.Replace(value) + `"`)["A"])
		_ = parseEnvironment(rapid.String().Draw(t, "text"))
	})
}
