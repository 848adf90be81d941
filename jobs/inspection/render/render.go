// Package render makes previews and public copies of files that passed a scan. It uses bimg, a library over libvips; strict.c
// sets the options that bimg lacks. Only the program stoa-inspect and tests may link it.
//
// A process renders one file. Nothing here may run at the same time. A complaint of a decoder is an error.
package render

import (
	"math"

	"github.com/h2non/bimg"

	"stoa/jobs/inspection"
)

// Renderer implements inspection.Renderer.
type Renderer struct{}

// maxScale bounds how much a small page is enlarged, relative to its size at 72 dpi.
const maxScale = 4.0

var white = bimg.Color{R: 255, G: 255, B: 255}

// JPEG implements inspection.Renderer: the file, or a PDF's page, as a JPEG on white in sRGB.
func (Renderer) JPEG(s inspection.Source, longest int, room func(width, height int) int) (inspection.Rendered, error) {
	p, err := look(s, longest)
	if err != nil {
		return inspection.Rendered{}, err
	}
	reduced, err := p.reduced(longest)
	if err != nil {
		return inspection.Rendered{}, err
	}
	if err := open(own); err != nil {
		return inspection.Rendered{}, err
	}
	p.found.File, err = encode(reduced, p.meta.Orientation, room)
	return p.found, err
}

// picture is a file whose head libvips has read.
type picture struct {
	inspection.Source
	meta  bimg.ImageMetadata
	found inspection.Rendered
}

// look opens the loader of a file and reads its head.
func look(s inspection.Source, longest int) (p picture, err error) {
	if err := open(s.Type); err != nil {
		return p, err
	}
	p = picture{Source: s}
	setPage(s.Page)
	if p.meta, err = bimg.Metadata(s.File); err != nil {
		return p, err
	}
	if s.Type == inspection.PDF {
		setScale(min(float64(longest)/float64(max(p.meta.Size.Width, p.meta.Size.Height)), maxScale))
		if p.meta, err = bimg.Metadata(s.File); err != nil {
			return p, err
		}
	}
	p.found = inspection.Rendered{Pages: pages(), Swapped: p.meta.Orientation >= 5 && p.meta.Orientation <= 8}
	return p, nil
}

// reduced returns the picture as stored, no side longer than longest, on white, in sRGB, with 8 bits a sample. A picture with
// transparent parts is put on white first: their colours must not mix with their neighbours' colours.
func (p picture) reduced(longest int) ([]byte, error) {
	o := bimg.Options{Type: bimg.TIFF, Background: white}
	if fits := max(p.meta.Size.Width, p.meta.Size.Height) <= longest; fits || p.meta.Channels%2 == 1 {
		fit(&o, p.meta.Size, longest)
		return p.convert(o, false)
	}
	flat, err := p.convert(o, false)
	if err != nil {
		return nil, err
	}
	if err := open(own); err != nil {
		return nil, err
	}
	fit(&o, p.meta.Size, longest)
	return process(flat, o)
}

// convert makes a picture of a file by its first usable colours: by its profile, by its gamma, or as sRGB. A bad profile is no
// reason to refuse the picture. asStored means that the samples keep their number and depth.
func (p picture) convert(o bimg.Options, asStored bool) (made []byte, err error) {
	for _, colours := range []struct {
		there   bool
		gamma   *inspection.Colours
		profile bool
	}{
		{p.meta.Profile, nil, true},
		{p.Colours != nil, p.Colours, true}, // as a profile made of it
		{true, nil, false},
	} {
		if !colours.there {
			continue
		}
		setColours(colours.gamma)
		o.OutputICC, o.NoProfile, o.Interpretation = "", true, bimg.InterpretationSRGB
		if colours.profile {
			o.OutputICC, o.NoProfile = "srgb", false
		}
		if colours.profile || asStored {
			o.Interpretation = spaces[p.meta.Space]
		}
		if made, err = process(p.File, o); err == nil {
			return made, nil
		}
	}
	return nil, err
}

// spaces are the interpretations that keep samples unchanged, by libvips' names.
var spaces = map[string]bimg.Interpretation{
	"b-w": bimg.InterpretationBW, "grey16": bimg.InterpretationGREY16, "cmyk": bimg.InterpretationCMYK,
	"srgb": bimg.InterpretationSRGB, "rgb": bimg.InterpretationSRGB, "rgb16": bimg.InterpretationRGB16,
}

// process is one step of bimg. It keeps no metadata, and turns a picture only if o says so.
func process(file []byte, o bimg.Options) ([]byte, error) {
	o.NoAutoRotate, o.StripMetadata = true, true
	warned()
	made, err := bimg.Resize(file, o)
	if err == nil && warned() {
		err = errWarning
	}
	return made, err
}

// fit makes a picture of a size no longer than longest. A picture that becomes one pixel thin is not first reduced by a whole
// number, because nothing would be left of it.
func fit(o *bimg.Options, size bimg.ImageSize, longest int) {
	most := max(size.Width, size.Height)
	if most <= longest {
		return
	}
	by := float64(longest) / float64(most)
	o.Width = max(1, int(math.Round(float64(size.Width)*by)))
	o.Height = max(1, int(math.Round(float64(size.Height)*by)))
	o.Force, o.Crop = true, min(size.Width, size.Height)*longest < most
}

// turn shows a picture upright, by the orientation of Exif. bimg turns first and mirrors then.
func turn(o *bimg.Options, orientation int) {
	angles := []bimg.Angle{0, 0, 0, bimg.D180, bimg.D180, bimg.D90, bimg.D90, bimg.D270, bimg.D270}
	if orientation > 0 && orientation < len(angles) {
		o.Rotate = angles[orientation]
		o.Flip = orientation == 2 || orientation == 4 || orientation == 5 || orientation == 7
	}
}
