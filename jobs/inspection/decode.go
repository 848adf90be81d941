package inspection

/*
#cgo pkg-config: vips
#include <vips/vips.h>
#include "picture.h"
*/
import "C"

import (
	"errors"
	"math"
	"sync"
	"unsafe"
)

// bimg decodes leniently, converts to sRGB before it looks at a profile, shrinks transparency together with what lies under
// it and fails on images one pixel high, so decoding, colour and size go to libvips directly (picture.c); bimg makes the
// JPEGs of the result (encode.go).

// kinds are the loaders of libvips by media type.
var kinds = map[MediaType]C.enum_picture_kind{
	JPEG: C.PICTURE_JPEG,
	PNG:  C.PICTURE_PNG,
	PDF:  C.PICTURE_PDF,
}

var closeLoaders = sync.OnceFunc(func() { C.picture_start() })

// facts are what a decoder found: pixels as displayed, pages of a PDF.
type facts struct{ width, height, pages int }

// normalise decodes a file of a type (of a PDF its first page) with only that type's loader open, and returns it upright,
// in sRGB, on white, no side longer than longest, as an uncompressed PNG without metadata.
func normalise(file []byte, t MediaType, longest int) ([]byte, facts, error) {
	defer allow(t)()
	var found C.struct_picture_facts
	var png unsafe.Pointer
	var length C.size_t
	if C.picture_normalise(kinds[t], unsafe.Pointer(&file[0]), C.size_t(len(file)), C.int(longest), &found, &png, &length) != 0 { //nolint:gocritic // what cgo makes of it
		defer C.vips_error_clear()
		return nil, facts{}, errors.New(C.GoString(C.vips_error_buffer()))
	}
	defer C.g_free(C.gpointer(png))
	if length > math.MaxInt32 {
		return nil, facts{}, errors.New("picture too large")
	}
	return C.GoBytes(png, C.int(length)), facts{int(found.width), int(found.height), int(found.pages)}, nil
}

// allow opens the loader of a type, all others being closed, and returns what closes it again.
func allow(t MediaType) (done func()) {
	closeLoaders()
	C.picture_allow(kinds[t], 1)
	return func() { C.picture_allow(kinds[t], 0) }
}
