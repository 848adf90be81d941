package inspection

import "bytes"

// foreignSigns mark other formats at any place; letters are compared in lower case. Shorter signs than these are common in coded
// pictures and films.
var foreignSigns = []string{
	"%pdf-", "<html", "<!doctype", "<script", "<svg", "<?php", "<iframe", "<object", "javascript:",
	"#!/bin/", "#!/usr/", "this program cannot be run in dos mode", "rar!\x1a\x07", "7z\xbc\xaf\x27\x1c", "\xfd7zxz\x00", "bzh91ay&sy",
	"!<arch>\n", "ustar\x0000", "ustar  \x00", "pk\x05\x06\x00\x00\x00\x00",
}

// foreignHeads mark other formats at the beginning of a part.
var foreignHeads = []string{
	"MZ", "#!", "\x1F\x8B", "BZh", "\x28\xB5\x2F\xFD", "PK", "\x7FELF", "\xCA\xFE\xBA\xBE", "\xFE\xED\xFA", "\xCE\xFA\xED\xFE",
	"\xCF\xFA\xED\xFE", "dex\n", "\x00asm", "RIFF", "II*\x00", "MM\x00*", "\xD0\xCF\x11\xE0", "{\\rtf", "MSCF", "LZIP", "\x04\x22\x4D\x18",
}

// holdsForeign reports whether bytes hold another format that may begin anywhere, or begin one.
func holdsForeign(b []byte) bool {
	lower := lowered(b)
	for _, sign := range foreignSigns {
		if bytes.Contains(lower, []byte(sign)) {
			return true
		}
	}
	return holdsEntry(b) || holdsProgram(b) || beginsForeign(pastPadding(b))
}

// beginsForeign reports whether bytes begin another format.
func beginsForeign(b []byte) bool {
	for _, head := range foreignHeads {
		if bytes.HasPrefix(b, []byte(head)) {
			return true
		}
	}
	return false
}

// holdsEntry finds an entry of a ZIP: its sign and a version of at most 6.3.
func holdsEntry(b []byte) bool {
	return holdsHead(b, "PK\x03\x04", 6, func(head []byte) bool { return head[4] <= 63 && head[5] == 0 })
}

// holdsProgram finds the head of an ELF program: class, byte order and version.
func holdsProgram(b []byte) bool {
	return holdsHead(b, "\x7FELF", 7, func(head []byte) bool { return head[4]-1 <= 1 && head[5]-1 <= 1 && head[6] == 1 })
}

// holdsHead finds a sign that begins a head of that length, if right accepts the head.
func holdsHead(b []byte, sign string, length int, right func(head []byte) bool) bool {
	for {
		at := bytes.Index(b, []byte(sign))
		if at < 0 {
			return false
		}
		if b = b[at:]; len(b) >= length && right(b[:length]) {
			return true
		}
		b = b[len(sign):]
	}
}

// lowered returns bytes with ASCII letters in lower case.
func lowered(b []byte) []byte {
	lower := bytes.Clone(b)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return lower
}
