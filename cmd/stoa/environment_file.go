package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"stoa/cmd/stoa/cluster"
	operators "stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/secrets"
)

// environmentFile holds the settings of an installed package, which every command reads. The build of the package sets it
// (-X main.environmentFile=/etc/stoa/stoa.env); other builds read no file.
var environmentFile string

// readEnvironmentFile sets the file's variables that the environment does not set, neither directly nor as a file. A file that
// is missing, or that this account may not read, sets nothing: an agent's commands need none of it.
func readEnvironmentFile() error {
	if environmentFile == "" {
		return nil
	}
	text, err := os.ReadFile(environmentFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	for name, value := range parseEnvironment(string(text)) {
		if os.Getenv(name) != "" || os.Getenv(secrets.Other(name)) != "" {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("%s: %s: %w", environmentFile, name, err)
		}
	}
	return nil
}

// hint adds to an error that this account may not read the settings of the package, which may be its cause.
func hint(err error) error {
	missing := errors.Is(err, cluster.ErrNoCluster) || errors.Is(err, operators.ErrNoToken) || errors.Is(err, fs.ErrPermission)
	if environmentFile == "" || !missing || !errors.Is(unix.Access(environmentFile, unix.R_OK), unix.EACCES) {
		return err
	}
	return fmt.Errorf("%w; the settings of the installed service are in %s, which this account cannot read: run this as root",
		err, environmentFile)
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseEnvironment reads a file as systemd's EnvironmentFile= does: a variable a line, # and ; begin a comment, a backslash at
// the end of a line continues it, and a value may be in quotes. It skips other lines; the last value of a name counts.
func parseEnvironment(text string) map[string]string {
	found := make(map[string]string)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", "")
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		name, value, assigned := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !assigned || line[0] == '#' || line[0] == ';' || !variableName.MatchString(name) {
			continue
		}
		found[name] = unquote(strings.TrimSpace(value))
	}
	return found
}

// unquote takes the quotes and backslashes from a value: nothing is special between single quotes, and between double ones a
// backslash escapes only a double quote, a backslash, a dollar sign and a backtick.
func unquote(value string) string {
	var plain strings.Builder
	quote := byte(0)
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote && quote != 0:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(value) && (quote == 0 || strings.IndexByte("\"\\$`", value[i+1]) >= 0):
			i++
			plain.WriteByte(value[i])
		default:
			plain.WriteByte(c)
		}
	}
	return plain.String()
}

// actAsOwner makes root act as the account that owns the data folder, in an installed package: otherwise the service could not
// write into the files that the command creates. The process keeps its current folder.
func (s dataSettings) actAsOwner() error {
	if environmentFile == "" || os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(s.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the command says so
	}
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	if err := become(owner.Uid, owner.Gid); err != nil {
		return fmt.Errorf("act as the owner of %s: %w", s.DataDir, err)
	}
	// Without this the account could not look into /proc/self.
	return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
}

// become changes the account of this process, with the groups that the account has.
func become(uid, gid uint32) error {
	groups := []int{int(gid)}
	if account, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
		ids, err := account.GroupIds()
		if err != nil {
			return err
		}
		for _, id := range ids {
			if number, err := strconv.Atoi(id); err == nil {
				groups = append(groups, number)
			}
		}
		if err := os.Setenv("HOME", account.HomeDir); err != nil {
			return err
		}
	}
	if err := syscall.Setgroups(groups); err != nil {
		return err
	}
	if err := syscall.Setgid(int(gid)); err != nil {
		return err
	}
	return syscall.Setuid(int(uid))
}
