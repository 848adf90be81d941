package inspection

/*
#cgo pkg-config: vips lcms2
#include <vips/vips.h>
#include "picture.h"
*/
import "C"

import (
	"errors"
	"sync"
	"unsafe"
)

// kinds are the loaders of libvips by media type.
var kinds = map[MediaType]C.enum_picture_kind{
	JPEG: C.PICTURE_JPEG,
	PNG:  C.PICTURE_PNG,
	PDF:  C.PICTURE_PDF,
}

// started says with which loader open libvips was started. A process renders files of one type only.
var started struct {
	once   sync.Once
	kind   C.enum_picture_kind
	failed bool
}

var errStart = errors.New("inspection: libvips does not start")

// startLibvips opens the loader of a type for good; an error is the machine's fault.
func startLibvips(kind C.enum_picture_kind) error {
	started.once.Do(func() {
		started.kind, started.failed = kind, C.picture_start(kind) != 0
	})
	if started.failed || started.kind != kind {
		return errStart
	}
	return nil
}

// raster is a rendered picture: rows of 8-bit sRGB triples, upright, on white.
type raster struct {
	pixels        []byte
	width, height int
	// swapped tells that displaying the file exchanges its width and height.
	swapped bool
	// pages of a PDF.
	pages int
	free  func()
}

// minShrunk is how many times longer than the rendered picture a JPEG stays that is decoded at a fraction of its size, so that
// the last step has something to smooth.
const minShrunk = 1.5

// shrinkOf is the fraction, 1/1 to 1/8, at which a JPEG of a size is decoded for a rendering no longer than longest.
func shrinkOf(stored size, longest int) int {
	shrink := 1
	for shrink < 8 && float64(max(stored.width, stored.height)) >= minShrunk*float64(2*shrink*longest) {
		shrink *= 2
	}
	return shrink
}

// render decodes a whole file (of a PDF the first page), with no side of the result longer than longest. What the decoder
// complains about is refused. The caller calls free.
func render(file []byte, t MediaType, found facts, longest int) (raster, error) {
	kind := kinds[t]
	if err := startLibvips(kind); err != nil {
		return raster{}, err
	}
	var out C.struct_picture
	colours := found.colours.inC()
	length, shrink := C.size_t(len(file)), C.int(shrinkOf(found.size, longest))
	if C.picture_render(kind, unsafe.Pointer(&file[0]), length, C.int(longest), shrink, &colours, &out) != 0 { //nolint:gocritic // cgo's
		C.vips_error_clear()
		return raster{}, refusedUndecodable
	}
	return raster{
		pixels: unsafe.Slice((*byte)(out.pixels), 3*int(out.width)*int(out.height)),
		width:  int(out.width), height: int(out.height), swapped: out.swapped != 0, pages: int(out.pages),
		free: func() { C.g_free(C.gpointer(out.pixels)) },
	}, nil
}

// inC converts the colours of a PNG; nil says nothing.
func (c *colours) inC() (out C.struct_picture_colours) {
	if c == nil {
		return out
	}
	out.gamma = C.double(c.gamma)
	for i, point := range []*[2]C.double{&out.white, &out.red, &out.green, &out.blue} {
		point[0], point[1] = C.double(c.points[2*i]), C.double(c.points[2*i+1])
	}
	return out
}

// encode makes a JPEG of the picture, without metadata.
func (r raster) encode(quality int, fullChroma bool) ([]byte, error) {
	var jpeg unsafe.Pointer
	var length C.size_t
	full, pixels := C.int(0), unsafe.Pointer(&r.pixels[0])
	if fullChroma {
		full = 1
	}
	if C.picture_jpeg(pixels, C.int(r.width), C.int(r.height), C.int(quality), full, &jpeg, &length) != 0 { //nolint:gocritic // cgo's
		C.vips_error_clear()
		return nil, refusedUndecodable
	}
	defer C.g_free(C.gpointer(jpeg))
	if length > maxWritten {
		return nil, refusedLimits
	}
	return C.GoBytes(jpeg, C.int(length)), nil
}
