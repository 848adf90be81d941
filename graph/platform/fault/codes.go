package fault

import (
	"maps"
	"slices"
)

// Codes lists every code, sorted.
func Codes() []Code { return slices.Sorted(maps.Keys(table)) }
