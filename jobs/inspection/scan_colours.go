package inspection

import (
	"encoding/binary"
	"math"
)

// colours are what gAMA and cHRM say of a PNG's samples (PNG, third edition, 11.3.2).
type colours struct {
	// gamma is the exponent that makes light of a sample, 2.2 for most; 0 where the file does not say.
	gamma float64
	// points are x and y of white, red, green and blue; zeros where the file does not say.
	points [8]float64
}

const (
	// chunkUnit is what the integers of gAMA and cHRM are multiplied by.
	chunkUnit = 100_000
	// sRGB's exponent, and how far another may be from it without a visible difference.
	srgbGamma      = 2.2
	gammaTolerance = 0.05
	// pointTolerance is how far a primary may be from sRGB's.
	pointTolerance = 0.002
	// Exponents beyond these are no display's.
	minGamma, maxGamma = 0.2, 10
)

// srgbPoints are the points of sRGB.
var srgbPoints = [8]float64{0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06}

// describe notes a chunk that says something of the colours. A profile (iCCP, cICP) and sRGB win over gAMA and cHRM.
func (w *pngWalk) describe(kind string, data []byte) {
	if w.data || w.palette {
		return // too late to count
	}
	switch {
	case kind == "iCCP" || kind == "sRGB" || kind == "cICP":
		w.profiled = true
	case kind == "gAMA" && len(data) == 4:
		if exponent := float64(chunkUnit) / float64(binary.BigEndian.Uint32(data)); exponent >= minGamma && exponent <= maxGamma {
			w.colours.gamma = exponent
		}
	case kind == "cHRM" && len(data) == 4*len(w.colours.points):
		for i := range w.colours.points {
			w.colours.points[i] = float64(binary.BigEndian.Uint32(data[4*i:])) / chunkUnit
		}
	}
}

// known returns what counts of the colours: nil where the file has a profile, says nothing, or says sRGB.
func (w *pngWalk) known() *colours {
	c := w.colours
	if w.profiled || c.gamma == 0 {
		return nil
	}
	if !c.triangle() {
		c.points = [8]float64{}
	}
	if c.srgb() {
		return nil
	}
	return &c
}

// srgb tells whether the samples are sRGB, give or take.
func (c colours) srgb() bool {
	if math.Abs(c.gamma/srgbGamma-1) > gammaTolerance {
		return false
	}
	if c.points == [8]float64{} {
		return true
	}
	for i, point := range c.points {
		if math.Abs(point-srgbPoints[i]) > pointTolerance {
			return false
		}
	}
	return true
}

// triangle tells whether the points are those of a display: within the diagram, and the primaries not in a line.
func (c colours) triangle() bool {
	for i := 0; i < len(c.points); i += 2 {
		x, y := c.points[i], c.points[i+1]
		if x < 0 || y < 0.001 || x+y > 1.3 {
			return false
		}
	}
	p := c.points
	area := (p[4]-p[2])*(p[7]-p[3]) - (p[6]-p[2])*(p[5]-p[3])
	return math.Abs(area) > 0.01 && p[0] > 0
}
