package inspection

/*
#cgo pkg-config: vips lcms2
#include <vips/vips.h>
#include "image_render.h"
*/
import "C"

import (
	"encoding/binary"
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
func render(file []byte, t MediaType, found imageInfo, longest int) (raster, error) {
	kind := kinds[t]
	if err := startLibvips(kind); err != nil {
		return raster{}, err
	}
	var out C.struct_picture
	colours := found.colours.inC()
	length, shrink := C.size_t(len(file)), C.int(shrinkOf(found.size, longest))
	failed := C.picture_render(kind, unsafe.Pointer(&file[0]), length, C.int(longest), shrink, &colours, &out) //nolint:gocritic // cgo's
	if failed != 0 {
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
	failed := C.picture_jpeg(pixels, C.int(r.width), C.int(r.height), C.int(quality), full, &jpeg, &length) //nolint:gocritic // cgo's
	if failed != 0 {
		C.vips_error_clear()
		return nil, refusedUndecodable
	}
	defer C.g_free(C.gpointer(jpeg))
	if length > maxWritten {
		return nil, refusedLimits
	}
	return C.GoBytes(jpeg, C.int(length)), nil
}

// How a JPEG is encoded. Photographs lose nothing visible with a quarter of their colour samples; pixel art, drawings and
// screenshots do.
const (
	photoQuality   = 85
	graphicQuality = 95
	// smallSide is the longest side, in pixels, up to which a picture keeps all its colour samples whatever it shows.
	smallSide = 256
	// fewColours is up to how many distinct colours make a picture a graphic.
	fewColours = 256
)

// previewRoom bounds a preview in bytes: what an upload reserves for it.
func previewRoom(width, height int) int {
	const most, headers, perPixel = 1 << 20, 4 << 10, 3
	return min(most, headers+perPixel*width*height)
}

// jpeg encodes the picture as what it is, photograph or graphic. A graphic that takes more than room bytes is encoded as a
// photograph.
func (r raster) jpeg(room int) ([]byte, error) {
	if max(r.width, r.height) <= smallSide || r.graphic() {
		encoded, err := r.encode(graphicQuality, true)
		if err != nil || len(encoded) <= room {
			return encoded, err
		}
	}
	return r.encode(photoQuality, false)
}

// graphic reports whether the picture is drawn and not taken: it has few colours, or most of its pixels are like the one before.
func (r raster) graphic() bool {
	seen := make(map[uint32]struct{}, fewColours)
	last, repeated := uint32(1<<24), 0
	for at := 0; at+3 <= len(r.pixels); at += 3 {
		pixel := uint32(r.pixels[at])<<16 | uint32(binary.BigEndian.Uint16(r.pixels[at+1:]))
		if pixel == last {
			repeated++
			continue
		}
		last = pixel
		if len(seen) <= fewColours {
			seen[pixel] = struct{}{}
		}
	}
	return len(seen) <= fewColours || repeated > len(r.pixels)/3/2
}
