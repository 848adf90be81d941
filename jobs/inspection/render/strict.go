package render

/*
#cgo pkg-config: vips lcms2 gmodule-2.0
#include "strict.h"
*/
import "C"

import (
	"errors"

	"stoa/jobs/inspection"
)

// loaders are libvips' loaders by media type.
var loaders = map[inspection.MediaType]C.enum_strict_loader{
	inspection.JPEG: C.STRICT_JPEG,
	inspection.PNG:  C.STRICT_PNG,
	inspection.PDF:  C.STRICT_PDF,
	own:             C.STRICT_OWN,
}

// own is the type of intermediate files: uncompressed, because that costs little more than a copy.
const own inspection.MediaType = "image/tiff"

var (
	errLoader  = errors.New("render: libvips lacks a loader")
	errWarning = errors.New("render: the decoder warned")
)

// state holds the settings of the next load, and its findings.
func state() *C.struct_strict_load { return &C.strict_load }

// open closes every loader of libvips but one.
func open(t inspection.MediaType) error {
	*state() = C.struct_strict_load{}
	if C.strict_open(loaders[t]) != 0 {
		return errLoader
	}
	return nil
}

// setScale sets the scale, relative to 72 dpi, of the pages that are loaded from now on.
func setScale(scale float64) { state().scale = C.double(scale) }

// setPage sets which page of a PDF is loaded from now on; 0 and 1 are the first.
func setPage(page int) { state().page = C.int(max(0, page-1)) }

// setColours sets the colours that a PNG describes; nil for none.
func setColours(c *inspection.Colours) {
	state().gamma = 0
	if c == nil {
		return
	}
	state().gamma = C.double(c.Gamma)
	points := c.Points
	if points == [8]float64{} {
		points = inspection.SRGBPoints
	}
	for i, point := range points {
		state().points[i] = C.double(point)
	}
}

// pages returns the number of pages of the last file that was loaded.
func pages() int { return int(state().pages) }

// warned reports whether a decoder warned when it ended, and resets that.
func warned() bool {
	was := state().warned != 0
	state().warned = 0
	return was
}
