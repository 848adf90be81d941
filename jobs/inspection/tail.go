package inspection

import (
	"bytes"
	"regexp"
	"slices"
)

// maxJPEGTail bounds the bytes after a JPEG's end.
const maxJPEGTail = 10 * mebibyte

// checkTail refuses the bytes after a JPEG's end unless they are padding, further pictures of a multi-picture file, trailers of
// cameras and photo programs, or the film of a motion photo, in any order. They must not hold or begin another format. They are
// never decoded or shown.
func checkTail(tail []byte, several bool) error {
	switch {
	case len(tail) > maxJPEGTail:
		return refusedTrailing
	case holdsForeign(tail):
		return refusedForeign
	}
	left := maxPictures
	if !several {
		left = 0
	}
	for rest := tail; ; {
		before := len(rest)
		rest = withoutTrailer(rest) // before padding is passed: trailers may begin and end with such bytes
		front := pastPadding(rest)
		if len(front) == 0 {
			return nil
		}
		if next, err := walkPicture(front); err == nil && left > 0 {
			rest = front[next.length:]
			left--
		} else if length := filmLength(front); length > 0 {
			rest = front[length:]
		}
		if len(rest) < before {
			continue
		}
		for len(rest) > 0 && isPadding(rest[len(rest)-1]) {
			rest = rest[:len(rest)-1]
		}
		if len(rest) == before {
			return refusedTrailing
		}
	}
}

// isPadding reports whether a byte is one of the usual fill bytes.
func isPadding(c byte) bool { return c == 0 || c == 0xFF }

// pastPadding removes padding at the beginning, but not of a picture or film: they begin with such bytes.
func pastPadding(b []byte) []byte {
	at := 0
	for at < len(b) && isPadding(b[at]) {
		at++
	}
	if at > 0 && at < len(b) && b[at-1] == 0xFF && b[at] == markerStart {
		at--
	}
	if film := bytes.Index(b[at:min(len(b), at+boxHead)], []byte("ftyp")); film >= 0 && film < 4 && at+film >= 4 {
		at += film - 4
	}
	return b[at:]
}

// filmBoxes are the top-level boxes of an MP4 (ISO/IEC 14496-12), whose first is ftyp.
var filmBoxes = map[string]bool{
	"ftyp": true, "moov": true, "mdat": true, "free": true, "skip": true, "wide": true, "moof": true, "mfra": true, "styp": true,
	"sidx": true, "ssix": true, "prft": true, "pdin": true, "meta": true, "uuid": true,
}

// filmLength is how many bytes of b are an MP4 at its beginning, with a moov box; 0 if b begins with none.
func filmLength(b []byte) int {
	at, moov := 0, false
	for {
		kind, _, length := readBox(b[at:])
		if !filmBoxes[kind] || at == 0 && kind != "ftyp" {
			break
		}
		at += length
		moov = moov || kind == "moov"
	}
	if !moov {
		return 0
	}
	return at
}

// foreignSigns mark other formats at any place; letters are compared in lower case. Shorter signs than these are common in coded
// pictures and films.
var foreignSigns = []string{
	"%pdf-", "<html", "<!doctype", "<script", "<svg", "<?php", "<iframe", "<object", "javascript:",
	"#!/bin/", "#!/usr/", "this program cannot be run in dos mode", "rar!\x1a\x07", "7z\xbc\xaf\x27\x1c", "\xfd7zxz\x00", "bzh91ay&sy",
	"!<arch>\n", "ustar\x0000", "ustar  \x00", "pk\x05\x06\x00\x00\x00\x00",
}

// zipEntry and elfHead match heads of formats at any place: an entry of a ZIP (its sign and a version of at most 6.3), and the
// head of an ELF program (its sign, class, byte order and version).
var (
	zipEntry = regexp.MustCompile(`PK\x03\x04[\x00-\x3F]\x00`)
	elfHead  = regexp.MustCompile(`\x7FELF[\x01\x02][\x01\x02]\x01`)
)

// foreignHeads mark other formats at the beginning of a part.
var foreignHeads = []string{
	"MZ", "#!", "\x1F\x8B", "BZh", "\x28\xB5\x2F\xFD", "PK", "\x7FELF", "\xCA\xFE\xBA\xBE", "\xFE\xED\xFA", "\xCE\xFA\xED\xFE",
	"\xCF\xFA\xED\xFE", "dex\n", "\x00asm", "RIFF", "II*\x00", "MM\x00*", "\xD0\xCF\x11\xE0", "{\\rtf", "MSCF", "LZIP", "\x04\x22\x4D\x18",
}

// holdsForeign reports whether bytes hold another format that may begin anywhere, or begin one.
func holdsForeign(b []byte) bool {
	lower := lowered(b)
	holds := func(sign string) bool { return bytes.Contains(lower, []byte(sign)) }
	return slices.ContainsFunc(foreignSigns, holds) || zipEntry.Match(b) || elfHead.Match(b) || beginsForeign(pastPadding(b))
}

// beginsForeign reports whether bytes begin another format.
func beginsForeign(b []byte) bool {
	return slices.ContainsFunc(foreignHeads, func(head string) bool { return bytes.HasPrefix(b, []byte(head)) })
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
