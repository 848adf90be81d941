package postgres

import "debug/elf"

func symbolAt(name string, at uint64) elf.Symbol { return elf.Symbol{Name: name, Value: at} }

func loadOf(offset, at, size uint64) elf.ProgHeader {
	return elf.ProgHeader{Type: elf.PT_LOAD, Off: offset, Vaddr: at, Filesz: size}
}
