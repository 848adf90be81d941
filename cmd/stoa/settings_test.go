package main

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

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
		code, _, stderr := runInProcess(strings.Fields(line)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "(see "+command+" --help)", line)
	}
	for line, wanted := range map[string]string{
		"--help": "Run the server.", "help": "Run the server.", "help serve": "Usage: stoa serve",
		"help operator bots suspend": "Usage: stoa operator bots suspend",
	} {
		code, stdout, _ := runProgram(t, strings.Fields(line))
		require.Zero(t, code)
		require.Contains(t, stdout, wanted, line)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"version", "--version", "-v"} {
		code, stdout, _ := runInProcess(word)
		require.Zero(t, code)
		require.Regexp(t, `^stoa \S+ go\S+ \w+/\w+\n$`, stdout, word)
	}
}

func serveFlags(t *testing.T) []*kong.Flag {
	t.Helper()
	parser := graphtest.Got(kong.New(new(commands), kong.DefaultEnvars(envPrefix)))(t)
	context := graphtest.Got(parser.Parse([]string{"serve"}))(t)
	flags := context.Selected().Flags
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
	parser := graphtest.Got(kong.New(&all))(t)
	graphtest.OK(t)(parser.Parse([]string{"serve"}))
	require.Equal(t, limits.Defaults(), all.Serve.Limit)
	require.Equal(t, 30*24*time.Hour, all.Serve.TokenTTL)

	manual := graphtest.Got(os.ReadFile("../../docs/running.md"))(t)
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
		require.Contains(t, string(manual), row+" ", "the default in docs/running.md")
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
	complete := func(line string) string {
		cmd := programCommand(t, nil, "COMP_LINE="+line)
		out := graphtest.Got(cmd.Output())(t)
		return string(out)
	}
	require.Contains(t, complete("stoa op"), "operator")
	require.Contains(t, complete("stoa operator bots "), "suspend")
	require.Contains(t, complete("stoa operator bots suspend --rea"), "--reason")
	require.Equal(t, "expired\nrefused\nsent\nwaiting\n", complete("stoa operator list mails --state "))
	require.Contains(t, complete("stoa operator maintenance "), "cleanup")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		require.Contains(t, output(t, []string{"completion", "-c", shell}), "complete ")
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		_, code, _ := runProgram(t, []string{"completion", "-c", "bash"})
		path := t.TempDir() + "/init"
		require.NoError(t, os.WriteFile(path, []byte(code), 0o600))
		require.NoError(t, exec.Command(bash, "-c", "source "+path+" && complete -p stoa").Run())
	}
}
