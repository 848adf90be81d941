package postgres

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
)

// symbols are the functions that a program shows to its libraries, by address. Those that only one file of its source uses have
// no names in a program without debug symbols, but lie beside those of the same file that have one.
type symbols struct {
	loads []elf.ProgHeader
	all   []elf.Symbol
}

// readSymbols reads those of a program.
func readSymbols(program string) (symbols, error) {
	file, err := elf.Open(program)
	if err != nil {
		return symbols{}, fmt.Errorf("postgres: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	var s symbols
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD {
			s.loads = append(s.loads, p.ProgHeader)
		}
	}
	all, err := file.DynamicSymbols()
	if err != nil {
		return symbols{}, fmt.Errorf("postgres: symbols of %s: %w", program, err)
	}
	s.all = slices.DeleteFunc(all, func(one elf.Symbol) bool {
		return elf.ST_TYPE(one.Info) != elf.STT_FUNC || one.Section == elf.SHN_UNDEF
	})
	slices.SortFunc(s.all, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return s, nil
}

// nameless is how functions are called that have no name near by.
const nameless = "(without a name)"

// around names the function at an offset of the program's file, or those before and behind it that have a name.
func (s symbols) around(offset string) string {
	at, err := strconv.ParseUint(offset, 0, 64)
	if err != nil {
		return nameless
	}
	for _, load := range s.loads {
		if load.Off <= at && at < load.Off+load.Filesz {
			at += load.Vaddr - load.Off
			break
		}
	}
	next, exact := slices.BinarySearchFunc(s.all, at, func(one elf.Symbol, at uint64) int { return cmp.Compare(one.Value, at) })
	switch {
	case exact:
		return s.all[next].Name
	case next == 0 || next == len(s.all):
		return nameless
	}
	return "(" + s.all[next-1].Name + " … " + s.all[next].Name + ")"
}
