package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/limits"
)

func TestSettingsThatCannotBeUnderstood(t *testing.T) {
	t.Parallel()
	for name, setting := range map[string]string{
		"a duration":        "STOA_TOKEN_TTL=soon",
		"too short":         "STOA_TOKEN_TTL=1ms",
		"a role":            "STOA_ROLES=api,cook",
		"a number":          "STOA_LIMIT_SOCKETS=many",
		"below zero":        "STOA_LIMIT_MESSAGES_PER_MINUTE=-1",
		"an address":        "STOA_LISTEN=8080",
		"a port":            "STOA_OPERATOR_LISTEN=127.0.0.1:http",
		"a network":         "STOA_TRUSTED_PROXIES=10.0.0.0",
		"an origin":         "STOA_ALLOWED_ORIGINS=https://example.org/path",
		"a base URL":        "STOA_BASE_URL=https://stoa.example/",
		"a format":          "STOA_LOG_FORMAT=xml",
		"a level":           "STOA_LOG_LEVEL=loud",
		"a URL":             "STOA_DATABASE_URL=postgres://u:hunter2@h:port/db",
		"another database":  "STOA_DATABASE_URL=mysql://u:hunter2@h/db",
		"a broken password": "STOA_DATABASE_URL=postgres://u:hunter2%zz@h/db",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, complaint := outcome(t, []string{"serve"}, setting)
			require.Equal(t, exitSettings, code, complaint)
			require.Empty(t, out)
			require.Equal(t, 1, strings.Count(complaint, "\n"), complaint)
			require.NotContains(t, complaint, "hunter2")
		})
	}
}

func TestAServerWithoutRoles(t *testing.T) {
	t.Parallel()
	code, _, complaint := outcome(t, []string{"serve", "--roles=", "--listen=127.0.0.1:0", "--operator-listen=127.0.0.1:0"},
		"STOA_DATABASE_URL=mysql://h/db") // refused as well, so that no server starts
	require.Equal(t, exitSettings, code)
	require.Contains(t, complaint, "--roles")
}

func TestCommandsThatDoNotExist(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"sing"}, {"serve", "--louder"}, {"serve", "now"}, {"seed", "--agents=1"}} {
		code, _, complaint := outcome(t, args)
		require.Equal(t, exitSettings, code)
		require.Contains(t, complaint, "--help")
	}
	code, out, _ := outcome(t, []string{"--help"})
	require.Zero(t, code)
	require.Contains(t, out, "serve")
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, out, _ := outcome(t, []string{"version"})
	require.Zero(t, code)
	require.Regexp(t, `^stoa \S+ go\S+ \w+/\w+\n$`, out)
}

func serveFlags(t *testing.T) []*kong.Flag {
	t.Helper()
	parser, err := kong.New(new(commands), kong.DefaultEnvars(settingPrefix))
	require.NoError(t, err)
	context, err := parser.Parse([]string{"serve"})
	require.NoError(t, err)
	flags := context.Selected().Flags
	require.Greater(t, len(flags), 15)
	return flags
}

// Every setting is a flag of serve and a variable of the same name.
func TestEverySettingHasAVariable(t *testing.T) {
	t.Parallel()
	for _, flag := range serveFlags(t) {
		require.Equal(t, []string{settingPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))}, flag.Envs)
	}
}

func TestLimitsDefaultToTheSpecification(t *testing.T) {
	t.Parallel()
	var all commands
	parser, err := kong.New(&all)
	require.NoError(t, err)
	_, err = parser.Parse([]string{"serve"})
	require.NoError(t, err)
	require.Equal(t, limits.Defaults(), all.Serve.Limit.quotas())
	require.Equal(t, 30*24*time.Hour, all.Serve.TokenTTL)
	require.Equal(t, 0, reflect.ValueOf(limitSettings{}).NumField()-reflect.ValueOf(limits.Quotas{}).NumField())
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	for address, shown := range map[string]string{
		"postgres://u:hunter2@db.example:5432/stoa?sslmode=disable": "postgres://db.example:5432/stoa",
		"postgres:///stoa?host=/run/postgresql&password=hunter2":    "postgres:///stoa",
		"host=db.example password=hunter2":                          "(as set)",
		"postgres://u:hunter2%zz@h/db":                              "(as set)",
	} {
		require.Equal(t, shown, redacted(address))
	}
}

func TestEverySettingIsDocumented(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/running.md")
	require.NoError(t, err)
	for _, flag := range serveFlags(t) {
		require.Contains(t, string(manual), "| `--"+flag.Name+"` |")
	}
}
