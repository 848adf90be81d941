package card

import (
	"image"
	"image/color"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

// maxText is how many characters of a text are looked at.
const maxText = 160

// titleSizes are the sizes of a title in pixels: the largest one in which it has no more than titleLines is taken.
var titleSizes = []float64{76, 64, 54, 46}

const (
	titleLines = 3
	lineSize   = 34
	lineLines  = 2
	// leading is the distance of lines in sizes.
	leading = 1.18
)

// fonts are parsed when the first card is drawn.
var (
	bold    = sync.OnceValues(func() (*sfnt.Font, error) { return opentype.Parse(gobold.TTF) })
	regular = sync.OnceValues(func() (*sfnt.Font, error) { return opentype.Parse(goregular.TTF) })
)

// drawTexts puts the title and the lines below each other.
func (c Card) drawTexts(canvas *image.RGBA) error {
	known, err := bold()
	if err != nil {
		return err
	}
	title := ""
	for _, candidate := range c.Titles {
		if title = drawable(known, candidate); title != "" {
			break
		}
	}
	y := textTop
	for i, size := range titleSizes {
		w, err := newWriter(canvas, bold, size)
		if err != nil {
			return err
		}
		lines := w.wrap(title, textWidth)
		if len(lines) > titleLines && i < len(titleSizes)-1 {
			continue
		}
		y = w.lines(cut(lines, titleLines), y, ink)
		break
	}
	w, err := newWriter(canvas, regular, lineSize)
	if err != nil {
		return err
	}
	for _, line := range c.Lines {
		if text := drawable(known, line); text != "" && text != title {
			y = w.lines(cut(w.wrap(text, textWidth), lineLines), y+14, quiet)
		}
	}
	return nil
}

// drawable is a text on one line as a font can draw it; empty if the font lacks one of its letters. Signs that are no letters, such as
// emoji, are left out.
func drawable(known *sfnt.Font, s string) string {
	var kept strings.Builder
	var buffer sfnt.Buffer
	count := 0
	for _, r := range norm.NFC.String(strings.Join(strings.Fields(s), " ")) {
		if count++; count > maxText {
			break
		}
		glyph, err := known.GlyphIndex(&buffer, r)
		switch {
		case err == nil && glyph != 0:
			kept.WriteRune(r)
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.In(r, unicode.Mn, unicode.Mc) && !unicode.Is(unicode.Variation_Selector, r):
			return ""
		}
	}
	return strings.Join(strings.Fields(kept.String()), " ")
}

// writer writes lines in one size.
type writer struct {
	font.Drawer

	size float64
}

func newWriter(canvas *image.RGBA, family func() (*sfnt.Font, error), size float64) (*writer, error) {
	parsed, err := family()
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return nil, err
	}
	return &writer{font.Drawer{Dst: canvas, Face: face}, size}, nil
}

// line writes one line with its base at y.
func (w *writer) line(s string, x, y int, ink color.Color) {
	w.Src, w.Dot = image.NewUniform(ink), fixed.P(x, y)
	w.DrawString(s)
}

// lines writes lines from y on, and returns where the next one may begin.
func (w *writer) lines(all []string, y int, ink color.Color) int {
	for _, s := range all {
		y += int(w.size * leading)
		w.line(s, margin, y-int(w.size*(leading-0.9)), ink)
	}
	return y
}

// wrap breaks a text into lines of a width, between words, and within a word that is wider.
func (w *writer) wrap(s string, width int) (lines []string) {
	room, current := fixed.I(width), ""
	for word := range strings.FieldsSeq(s) {
		if longer := strings.TrimSpace(current + " " + word); w.MeasureString(longer) <= room {
			current = longer
			continue
		}
		if current != "" {
			lines = append(lines, current)
		}
		current = ""
		for _, r := range word {
			if w.MeasureString(current+string(r)) > room {
				lines, current = append(lines, current), ""
			}
			current += string(r)
		}
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}

// cut leaves the first lines, and marks that others were left out.
func cut(lines []string, limit int) []string {
	if len(lines) <= limit {
		return lines
	}
	kept := append([]string(nil), lines[:limit]...)
	last := []rune(kept[limit-1])
	kept[limit-1] = strings.TrimRight(string(last[:max(0, len(last)-1)]), " ,.;:") + "…"
	return kept
}
