package console

import "slices"

// What the operators' command line shares with the console: its lists, and how both read the schema's names.

// Section is a list of the console.
type Section = section

// Sections returns the lists in the order of the navigation.
func Sections() []Section { return slices.Clone(sections) }

// Human returns a name of the schema as people read it.
func Human(name string) string { return human(name) }

// Searched returns the conditions of which a row meets one if a search for the text finds it.
func Searched(listed Section, text string) []map[string]any { return searched(&listed, text) }
