//go:build browse

package browse_test

import (
	"image"
	"image/color"
	"math"
)

// drawing is the colour of a point in a picture that is 1 high: its place among the colours of a palette, from 0 to 1.
type drawing func(x, y float64) float64

// palettes are the colours of pictures, from dark to light.
var palettes = [][]color.RGBA{
	{{16, 42, 67, 255}, {36, 82, 120, 255}, {98, 150, 178, 255}, {190, 215, 214, 255}, {246, 240, 222, 255}},
	{{46, 26, 71, 255}, {110, 46, 98, 255}, {196, 84, 92, 255}, {240, 154, 96, 255}, {252, 224, 164, 255}},
	{{18, 52, 44, 255}, {40, 104, 82, 255}, {112, 158, 108, 255}, {200, 204, 142, 255}, {248, 240, 214, 255}},
	{{40, 40, 48, 255}, {84, 88, 104, 255}, {204, 92, 60, 255}, {236, 190, 116, 255}, {246, 242, 234, 255}},
}

// samples of each pixel along a side, which smooth its edges.
const samples = 3

// draw makes a picture with one of the palettes.
func (d drawing) draw(width, height, palette int) image.Image {
	colours := palettes[palette%len(palettes)]
	made := image.NewRGBA(image.Rect(0, 0, width, height))
	for py := range height {
		for px := range width {
			var red, green, blue float64
			for i := range samples * samples {
				x := (float64(px) + (float64(i%samples)+.5)/samples) / float64(height)
				y := (float64(py) + (float64(i/samples)+.5)/samples) / float64(height)
				c := mix(colours, d(x, y))
				red, green, blue = red+c[0], green+c[1], blue+c[2]
			}
			n := float64(samples * samples)
			made.SetRGBA(px, py, color.RGBA{uint8(red / n), uint8(green / n), uint8(blue / n), 255})
		}
	}
	return made
}

// mix is the colour at a place of a palette.
func mix(colours []color.RGBA, at float64) [3]float64 {
	at = min(max(at, 0), 1) * float64(len(colours)-1)
	i := min(int(at), len(colours)-2)
	f := at - float64(i)
	a, b := colours[i], colours[i+1]
	blend := func(a, b uint8) float64 { return float64(a)*(1-f) + float64(b)*f }
	return [3]float64{blend(a.R, b.R), blend(a.G, b.G), blend(a.B, b.B)}
}

// height is a landscape of hills.
func height(x, y float64) float64 {
	return .5 + .22*math.Sin(2.6*x+1.3*y) + .17*math.Sin(4.7*y-3.1*x+1) + .1*math.Sin(9.1*x+2*math.Sin(5*y))
}

// contours is a map of hills with lines of the same height, and a river.
func contours(x, y float64) float64 {
	h := height(x, y)
	if river := math.Abs(y - .55 - .18*math.Sin(3.2*x) - .05*math.Sin(11*x)); river < .012+.008*x {
		return .12
	}
	step := math.Floor(h*9) / 9
	if h*9-math.Floor(h*9) < .07 {
		return .2 + .3*step
	}
	return .45 + .55*step
}

// rings are circles that overlap.
func rings(x, y float64) float64 {
	a, b := math.Hypot(x-.38, y-.5), math.Hypot(x-.68, y-.5)
	switch {
	case a < .27 && b < .27:
		return .3
	case a < .27:
		return .55
	case b < .27:
		return .75
	default:
		return .97
	}
}

// bars stand side by side.
func bars(x, y float64) float64 {
	column := math.Floor(x * 7)
	top := .72 - .5*math.Abs(math.Sin(column*1.7+.6))
	inside := x*7 - column
	if inside > .18 && inside < .82 && y > top && y < .86 {
		return .25 + .1*math.Mod(column, 3)
	}
	return .97
}

// wave is the volume of a recording.
func wave(x, y float64) float64 {
	column := math.Floor(x * 40)
	loud := .06 + .3*math.Abs(math.Sin(column*.37)*math.Sin(column*.11+.5)) + .06*math.Abs(math.Sin(column*2.3))
	if math.Abs(y-.5) < loud && x*40-column > .3 {
		return .2 + .4*x
	}
	return .97
}

// mosaic is made of quarters of circles.
func mosaic(x, y float64) float64 {
	const tiles = 5
	column, row := math.Floor(x*tiles), math.Floor(y*tiles)
	kind := int(column*7+row*row*3+column*row) % 4
	u, v := x*tiles-column, y*tiles-row
	if kind&1 == 1 {
		u = 1 - u
	}
	if kind&2 == 2 {
		v = 1 - v
	}
	r := math.Hypot(u, v)
	return []float64{.05, .97, .55, .97, .3}[min(int(r*3.4), 4)]
}

// sunset is the sun over the sea.
func sunset(x, y float64) float64 {
	if y < .62 {
		if math.Hypot(x-.9, y-.5) < .2 {
			return .98
		}
		return .35 + .6*y
	}
	depth := (y - .62) / .38
	return .3 - .28*depth + .16*math.Max(0, math.Sin(60/(depth+.25)+6*x))*math.Exp(-8*math.Pow(x-.9, 2))
}

// compass is a star of four points within a circle.
func compass(x, y float64) float64 {
	across, down := math.Abs(x-.5), math.Abs(y-.5)
	switch {
	case math.Sqrt(across)+math.Sqrt(down) < .62:
		return .1
	case math.Hypot(across, down) < .4:
		return .6
	default:
		return .97
	}
}

// dots are nine circles of three sizes.
func dots(x, y float64) float64 {
	column, row := math.Floor(x*3), math.Floor(y*3)
	if math.Hypot(x*3-column-.5, y*3-row-.5) < .18+.1*math.Mod(column+row, 3) {
		return .2 + .15*column
	}
	return .97
}
