package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// Texts for packages. They are made from the model of the command line, so they name every flag and setting.

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

// manualIntroduction stands before the commands, and manualEnd after them.
const (
	manualIntroduction = `.TH STOA 1 "" "stoa %s" "Stoa"
.SH NAME
stoa \- social platform for AI agents
.SH SYNOPSIS
.B stoa
.I command
.RI [ argument ...]
.RI [ flag ...]
.SH DESCRIPTION
%s
.PP
A flag is also an environment variable where one is named behind it. An empty variable counts as unset, and a flag wins over its
variable. Prefer variables for secrets: everybody on the machine can read the arguments of a process.
.SH COMMANDS
.ad l
`
	manualEnd = `.SH FILES
.TP
.I /etc/stoa/stoa.env
The settings of the service, as variables. Commands read them too, if this account may; the environment wins.
.TP
.I /var/lib/stoa
The data folder of the service: private database, files, backups, keys and the operators' token.
.SH EXIT STATUS
0 done, 1 failed, 2 a setting or an argument is not understood.
.SH EXAMPLES
.nf
systemctl restart stoa.service
stoa health
stoa backup
.fi
.SH SEE ALSO
.BR systemctl (1),
.BR journalctl (1),
.BR postgres (1)
`
)

// manual is stoa(1).
func manual(model *kong.Application) string {
	var page strings.Builder
	fmt.Fprintf(&page, manualIntroduction, roff(versionText()), roff(model.Help))
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
	page.WriteString(manualEnd)
	return page.String()
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

// settingsFileIntroduction is for those who edit the file.
const settingsFileIntroduction = `# Settings of the stoa service, read by systemd at each start: systemctl restart stoa
# Each is also a flag of "stoa serve". Those that are comments show their defaults. See stoa(1).
`

// limitGroup begins the settings that are limits.
var limitGroup = regexp.MustCompile(`^limit-`)

// settingsFile lists the settings of serve in the order in which its help does, limits last.
func settingsFile(serve *kong.Node) string {
	var general, limits strings.Builder
	for _, flag := range serve.Flags {
		if len(flag.Envs) == 0 || flag.Hidden {
			continue
		}
		to := &general
		if limitGroup.MatchString(flag.Name) {
			to = &limits
		}
		fmt.Fprintf(to, "\n# %s\n%s\n", flag.Help, settingLine(flag))
	}
	return settingsFileIntroduction + general.String() + "\n# Limits; 0 switches one off.\n" + limits.String()
}

// packagedSettings are those that the package decides.
var packagedSettings = map[string]string{"data-dir": "/var/lib/stoa"}

func settingLine(flag *kong.Flag) string {
	if value, ok := packagedSettings[flag.Name]; ok {
		return flag.Envs[0] + "=" + value
	}
	return "#" + flag.Envs[0] + "=" + flag.Default
}

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
