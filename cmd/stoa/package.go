package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"

	"stoa/cmd/stoa/cluster"
	operators "stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/secrets"
)

// The texts for packages are made from the model of the command line, so they name every flag and setting.

// manualCommand prints stoa(1).
type manualCommand struct{}

// Run prints the page in roff, with the macros of man(7).
func (manualCommand) Run(parsed *kong.Context, out io.Writer) error {
	_, err := io.WriteString(out, manual(parsed.Model))
	return err
}

// settingsFileCommand prints an environment file with every setting of serve.
type settingsFileCommand struct{}

// Run prints the file; every setting is a comment that shows its default.
func (settingsFileCommand) Run(parsed *kong.Context, out io.Writer) error {
	for _, command := range parsed.Model.Leaves(true) {
		if command.Path() == "serve" {
			_, err := io.WriteString(out, settingsFile(command))
			return err
		}
	}
	return nil
}

// manualText has placeholders for the version, the description and the commands.
//
//go:embed manual.roff
var manualText string

func manual(model *kong.Application) string {
	var page strings.Builder
	for _, command := range model.Leaves(true) {
		fmt.Fprintf(&page, ".SS \"%s\"\n%s\n", roff("stoa "+strings.TrimSuffix(usage(command), " [flags]")),
			roff(command.Help))
		for _, argument := range command.Positional {
			writeItem(&page, argument.Summary(), "", argument)
		}
		for _, flag := range command.Flags {
			if flag.Name == "help" || flag.Hidden {
				continue
			}
			name := "--" + flag.Name
			if !flag.IsBool() {
				name += "=" + strings.ToUpper(cmp.Or(flag.PlaceHolder, "value"))
			}
			writeItem(&page, name, strings.Join(flag.Envs, ", "), flag.Value)
		}
	}
	return fmt.Sprintf(manualText, roff(versionText()), roff(model.Help), &page)
}

// writeItem writes an argument or a flag: its name and variable, its purpose, and its default.
func writeItem(page *strings.Builder, name, variable string, value *kong.Value) {
	title := roff(name)
	if variable != "" {
		title += " (" + roff(variable) + ")"
	}
	help := value.Help
	if value.HasDefault && value.Default != "" {
		help += " Default: " + value.Default + "."
	}
	fmt.Fprintf(page, ".TP\n.B %s\n%s\n", title, roff(help))
}

var roffSigns = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "'", `\(aq`, "…", `\&...`, "\n", " ")

// roff escapes a text for one line of a page.
func roff(text string) string {
	escaped := roffSigns.Replace(text)
	if strings.HasPrefix(escaped, ".") {
		escaped = `\&` + escaped
	}
	return escaped
}

// settingsFileIntroduction is the head of the file.
const settingsFileIntroduction = `# Settings of the stoa service, read by systemd at each start: systemctl restart stoa
# Each is also a flag of "stoa serve". Those that are comments show their defaults. See stoa(1).
`

// settingsFile lists the settings of serve in the order in which its help does, limits last.
func settingsFile(serve *kong.Node) string {
	var general, limits strings.Builder
	for _, flag := range serve.Flags {
		if len(flag.Envs) == 0 || flag.Hidden {
			continue
		}
		to := &general
		if strings.HasPrefix(flag.Name, "limit-") {
			to = &limits
		}
		line := "#" + flag.Envs[0] + "=" + flag.Default
		if value, ok := packagedSettings[flag.Name]; ok {
			line = flag.Envs[0] + "=" + value
		}
		fmt.Fprintf(to, "\n# %s\n%s\n", flag.Help, line)
	}
	return settingsFileIntroduction + general.String() + "\n# Limits; 0 switches one off.\n" + limits.String()
}

// packagedSettings are the settings that the package decides.
var packagedSettings = map[string]string{"data-dir": "/var/lib/stoa"}

// usage is the summary of a command. If required flags exclude each other, it shows that exactly one is needed.
func usage(command *kong.Node) string {
	summary := command.Summary()
	groups := make(map[string][]string)
	for _, flag := range command.Flags {
		if flag.Required && len(flag.Xor) == 1 {
			groups[flag.Xor[0]] = append(groups[flag.Xor[0]], flag.Summary())
		}
	}
	for _, flags := range groups {
		if len(flags) > 1 {
			summary = strings.Replace(summary, strings.Join(flags, " "), "("+strings.Join(flags, " | ")+")", 1)
		}
	}
	return summary
}

// printHelp is kong's help with our usage line.
func printHelp(options kong.HelpOptions, parsed *kong.Context) error {
	selected := parsed.Selected()
	if selected == nil {
		return kong.DefaultHelpPrinter(options, parsed)
	}
	out := parsed.Stdout
	var page bytes.Buffer
	parsed.Stdout = &page
	err := kong.DefaultHelpPrinter(options, parsed)
	parsed.Stdout = out
	if err != nil {
		return err
	}
	_, err = out.Write(bytes.Replace(page.Bytes(), []byte(selected.Summary()), []byte(usage(selected)), 1))
	return err
}

// environmentFile holds the settings of an installed package, which every command reads. The build of the package sets it
// (-X main.environmentFile=/etc/stoa/stoa.env); other builds read no file.
var environmentFile string

// readEnvironmentFile sets the file's variables that the environment does not set, neither directly nor as a file. A missing
// file, or a file that this account may not read, is ignored: an agent's commands do not need it.
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
		if os.Getenv(name)+os.Getenv(name+secrets.FileSuffix)+os.Getenv(strings.TrimSuffix(name, secrets.FileSuffix)) != "" {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("%s: %s: %w", environmentFile, name, err)
		}
	}
	return nil
}

// hint adds a possible cause to an error: that this account may not read the settings of the package.
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

// unquote removes the quotes and backslashes of a value: nothing is special between single quotes, and between double quotes a
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
		return nil // the command reports it
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
	// Without this the account could not read /proc/self.
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
			number, _ := strconv.Atoi(id) // ids of the system are numbers
			groups = append(groups, number)
		}
		if err := os.Setenv("HOME", account.HomeDir); err != nil {
			return err
		}
	}
	return cmp.Or(syscall.Setgroups(groups), syscall.Setgid(int(gid)), syscall.Setuid(int(uid)))
}
