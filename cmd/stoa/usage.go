package main

import (
	"bytes"
	"strings"

	"github.com/alecthomas/kong"
)

// usage is the summary of a command. Of required flags that exclude each other it says that exactly one is needed.
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
