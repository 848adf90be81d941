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

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
)

// Commands of an installed package find database, files and the operators' token by the settings of the service, in any folder.
// The environment wins over the file.
func TestCommandsReadTheSettingsOfThePackage(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	folder := t.TempDir()
	text := "# Settings of the service\nSTOA_DATA_DIR='" + s.data + "'\nSTOA_OPERATOR_LISTEN=" + s.operator +
		"\nSTOA_LISTEN=\"" + strings.TrimPrefix(s.url, "http://") + "\"\nSTOA_DATABASE_URL=" + s.setting("STOA_DATABASE_URL") + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, packagedFile), []byte(text), 0o600))

	code, out, stderr := runIn(t, folder, []string{"backup"})
	require.Zero(t, code, stderr)
	require.Contains(t, out, "holds the database")
	require.DirExists(t, filepath.Join(s.data, "backups"))
	code, out, stderr = runIn(t, folder, []string{"operator", "settings"})
	require.Zero(t, code, stderr)
	require.NotEmpty(t, out)
	code, out, stderr = runIn(t, folder, []string{"health"})
	require.Zero(t, code, stderr)
	require.Contains(t, out, "ok")

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
		code, _, stderr := runIn(t, folder, []string{"operator", "settings"}, own)
		require.Zero(t, code, "%s: %s", packaged, stderr)
	}
}

// Files that root creates by a command of an installed package belong to the account of the service.
func TestRootActsAsTheOwnerOfTheData(t *testing.T) {
	nightly(t)
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
		code, _, stderr := runIn(t, filepath.Join(folder, "cwd"), args)
		require.Zero(t, code, "%v: %s", args, stderr)
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
