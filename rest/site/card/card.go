// Package card draws the pictures that other programs show beside a link to a page (Open Graph): a title, a line or two, a face, and
// the mark of the place.
//
// It carries its fonts, which know Latin, Greek and Cyrillic. A text in another script is left out, never drawn as boxes; a
// handle can always be drawn. Drawing is bounded by the size of the picture: texts are cut before they are measured. Draw is safe for
// concurrent use.
package card

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"sync"

	"golang.org/x/image/draw"

	"stoa/graph/platform/pages"
)

// Width is that of a card in pixels, as the programs that show previews ask for.
const Width = 1200

// Height is that of a card in pixels.
const Height = 630

// Places on a card in pixels.
const (
	margin   = 72
	faceSize = 300
	textTop  = 206
	markSize = 56
	markTop  = 64
	// textWidth is the room beside the face.
	textWidth = Width - 3*margin - faceSize
)

// Colours of the light pages (style.css).
var (
	ground = color.RGBA{0xfb, 0xfa, 0xf7, 255}
	ink    = color.RGBA{0x1c, 0x1a, 0x17, 255}
	quiet  = color.RGBA{0x63, 0x5d, 0x54, 255}
	accent = color.RGBA{0x0f, 0x5c, 0x8a, 255}
)

// Card holds the texts and the picture of a card.
type Card struct {
	// Titles are texts for the large line; the first one that can be drawn is taken.
	Titles []string
	// Lines stand below; those that cannot be drawn, or that say what the title says, are left out.
	Lines []string
	// Face is shown round.
	Face image.Image
}

// Draw returns the card as a PNG.
func (c Card) Draw() ([]byte, error) {
	canvas := image.NewRGBA(image.Rect(0, 0, Width, Height))
	draw.Draw(canvas, canvas.Bounds(), image.NewUniform(ground), image.Point{}, draw.Src)
	draw.Draw(canvas, image.Rect(0, Height-12, Width, Height), image.NewUniform(accent), image.Point{}, draw.Src)
	if err := drawMark(canvas); err != nil {
		return nil, err
	}
	if c.Face != nil {
		drawFace(canvas, c.Face)
	}
	if err := c.drawTexts(canvas); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err := png.Encode(&out, canvas)
	return out.Bytes(), err
}

// mark is the picture of the place.
var mark = sync.OnceValues(func() (image.Image, error) { return png.Decode(bytes.NewReader(pages.Picture)) })

// Mark returns the picture of the place.
func Mark() (image.Image, error) { return mark() }

// drawMark puts the mark and the name of the place into the corner.
func drawMark(canvas *image.RGBA) error {
	picture, err := mark()
	if err != nil {
		return err
	}
	draw.CatmullRom.Scale(canvas, image.Rect(margin, markTop, margin+markSize, markTop+markSize), picture, picture.Bounds(), draw.Over, nil)
	w, err := newWriter(canvas, bold, 40)
	if err != nil {
		return err
	}
	w.line("Stoa", margin+markSize+18, markTop+42, ink)
	return nil
}

// drawFace puts a picture into a circle, filled as a browser does with object-fit: cover.
func drawFace(canvas *image.RGBA, face image.Image) {
	from := face.Bounds()
	side := min(from.Dx(), from.Dy())
	from = image.Rect(0, 0, side, side).Add(from.Min).Add(image.Pt((from.Dx()-side)/2, (from.Dy()-side)/2))
	at := image.Rect(0, 0, faceSize, faceSize).Add(image.Pt(Width-margin-faceSize, (Height-faceSize)/2))
	scaled := image.NewRGBA(image.Rect(0, 0, faceSize, faceSize))
	draw.CatmullRom.Scale(scaled, scaled.Bounds(), face, from, draw.Src, nil)
	draw.DrawMask(canvas, at, scaled, image.Point{}, circle{}, image.Point{}, draw.Over)
}

// circle is a mask of a disc of the size of a face.
type circle struct{}

// ColorModel implements image.Image.
func (circle) ColorModel() color.Model { return color.AlphaModel }

// Bounds implements image.Image.
func (circle) Bounds() image.Rectangle { return image.Rect(0, 0, faceSize, faceSize) }

// At implements image.Image. The edge is smooth: nine points of each pixel are looked at.
func (circle) At(x, y int) color.Color {
	const radius = 3 * faceSize
	within := 0
	for i := range 9 {
		dx, dy := 6*x+2*(i%3)+1-radius, 6*y+2*(i/3)+1-radius
		if dx*dx+dy*dy <= radius*radius {
			within++
		}
	}
	return color.Alpha{uint8(within * 255 / 9)}
}

// Pattern draws the pattern of an id, for those who have no picture.
func Pattern(pattern pages.Pattern) image.Image {
	const cell = 48
	back, front := pattern.Colours()
	drawn := image.NewRGBA(image.Rect(0, 0, (pages.FaceCells+2)*cell, (pages.FaceCells+2)*cell))
	draw.Draw(drawn, drawn.Bounds(), image.NewUniform(back), image.Point{}, draw.Src)
	for y, row := range pattern.Cells {
		for x, coloured := range row {
			if coloured {
				at := image.Rect((x+1)*cell, (y+1)*cell, (x+2)*cell, (y+2)*cell)
				draw.Draw(drawn, at, image.NewUniform(front), image.Point{}, draw.Src)
			}
		}
	}
	return drawn
}
