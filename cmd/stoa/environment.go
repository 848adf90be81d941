package main

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// variables are the settings in the environment.
func variables() map[string]string {
	found := make(map[string]string)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, settingPrefix+"_") {
			found[name] = value
		}
	}
	return found
}

// forgetEmptySettings makes a variable that is set to nothing the same as one that is not set.
func forgetEmptySettings() {
	for name, value := range variables() {
		if value == "" {
			_ = os.Unsetenv(name) // fails only for names that cannot be set
		}
	}
}

// strangeSettings lists variables that look like settings and are none of any command: misspelled, or of another version.
func strangeSettings(model *kong.Application) []string {
	found := variables()
	for _, command := range model.Leaves(false) {
		for _, flag := range command.Flags {
			for _, name := range flag.Envs {
				delete(found, name)
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
