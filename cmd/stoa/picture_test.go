package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"html"
	"image"
	"image/jpeg"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var writePicture = flag.Bool("write", false, "write docs/architecture.svg instead of comparing it")

// The picture at the top of docs/architecture.md shows the levels of TestArrows; go test ./cmd/stoa -run Picture -write renews it.
func TestPictureOfTheArchitecture(t *testing.T) {
	t.Parallel()
	const path = "../../docs/architecture.svg"
	drawn := drawArchitecture()
	if *writePicture {
		require.NoError(t, os.WriteFile(path, []byte(drawn), 0o644))
	}
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, drawn, string(kept), "go test ./cmd/stoa -run Picture -write renews it")
	for _, level := range levels {
		for _, name := range level.packages {
			require.Contains(t, drawn, html.EscapeString(name))
		}
	}
}

// processes lists the processes, with the protocol that each speaks to the one below it. The processes of a row run in parallel.
var processes = [][]struct{ name, does string }{
	{{"agents", "REST, events, /mcp"}, {"people", "public site"}, {"operators", "GraphQL, pages"}},
	{{"stoa serve", "roles api, events, jobs; any number of processes"}},
	{{"PostgreSQL", "all state; NOTIFY, jobs"}, {"file store", "a folder or a bucket"}},
	{{"stoa-inspect", "a child for each file, confined"}, {"mail server, webhooks", "sent to by jobs"}},
}

const (
	pictureWidth = 1080
	levelsWidth  = 640
	rowHeight    = 30
	processRow   = 118
	edge         = 16
)

// drawArchitecture draws the levels on the left, from the highest down, and the processes on the right.
func drawArchitecture() string {
	var svg strings.Builder
	height := 2*edge + rowHeight*(len(levels)+1)
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n",
		pictureWidth, height)
	svg.WriteString("<title>Levels of packages and processes</title>\n")
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", pictureWidth, height)
	label(&svg, edge, edge+16, "bold", "#222", "Packages: each imports only from lower levels")
	label(&svg, levelsWidth+2*edge, edge+16, "bold", "#222", "Processes: arrows show who connects to whom")
	for i, level := range slices.Backward(levels) {
		y := edge + rowHeight*(len(levels)-i)
		box(&svg, edge, y, levelsWidth-2*edge, rowHeight-6, "#eef3fa", "#5b7aa6")
		text := strings.Join(level.packages, "   ")
		if level.together {
			text += "   (import each other)"
		}
		label(&svg, 2*edge, y+17, "normal", "#222", text)
	}
	right := pictureWidth - levelsWidth - 3*edge
	for i, row := range processes {
		y, width := edge+rowHeight+i*processRow, (right-(len(row)-1)*edge)/len(row)
		for j, process := range row {
			x := levelsWidth + 2*edge + j*(width+edge)
			box(&svg, x, y, width, 70, "#f6f1e4", "#9a7b2f")
			label(&svg, x+8, y+22, "bold", "#222", process.name)
			for line, part := range wrap(process.does, width/7) {
				label(&svg, x+8, y+42+16*line, "normal", "#444", part)
			}
		}
		switch middle := levelsWidth + 2*edge + right/2; i {
		case 0:
		case 1:
			line(&svg, "M%d %dv34m-5 -7l5 7l5 -7", middle, y-40)
		default: // from the server, between the boxes above, to both boxes of the row
			line(&svg, "M%d %dv%dm-8 0h16m-12 -4l-4 4l4 4m8 -8l4 4l-4 4",
				middle, y-processRow+70-35*(i-2), processRow-35+35*(i-2))
		}
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}

func box(svg *strings.Builder, x, y, width, height int, fill, stroke string) {
	fmt.Fprintf(svg, `<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="%s" stroke="%s"/>`+"\n", x, y, width, height, fill, stroke)
}

func line(svg *strings.Builder, path string, numbers ...any) {
	fmt.Fprintf(svg, `<path d="`+path+`" fill="none" stroke="#555"/>`+"\n", numbers...)
}

func label(svg *strings.Builder, x, y int, weight, colour, text string) {
	fmt.Fprintf(svg, `<text x="%d" y="%d" font-weight="%s" fill="%s" xml:space="preserve">%s</text>`+"\n",
		x, y, weight, colour, html.EscapeString(text))
}

// wrap breaks a text into lines of at most a number of characters, or of one word.
func wrap(text string, most int) (lines []string) {
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= most {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// blankJPEG returns a grey JPEG of any size without the time that encoding takes: all blocks of a grey image have the same code.
func blankJPEG(width, height int) []byte {
	var small bytes.Buffer
	if err := jpeg.Encode(&small, greyImage(16, 16), nil); err != nil {
		panic(err)
	}
	encoded := small.Bytes()
	frame := bytes.Index(encoded, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(encoded[frame+5:], uint16(height))
	binary.BigEndian.PutUint16(encoded[frame+7:], uint16(width))
	scan := bytes.Index(encoded, []byte{0xff, 0xda})
	scan += 2 + int(binary.BigEndian.Uint16(encoded[scan+2:]))
	// 16 by 16 pixels are four blocks of luminance and two of chrominance: difference 0 and end of block, six times, are 32 bits.
	blocks := ((width + 15) / 16) * ((height + 15) / 16)
	return append(append(encoded[:scan:scan], bytes.Repeat([]byte{0x28, 0xa2, 0x8a, 0x00}, blocks)...), 0xff, 0xd9)
}

func greyImage(width, height int) image.Image {
	grey := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	for _, plane := range [][]byte{grey.Y, grey.Cb, grey.Cr} {
		for i := range plane {
			plane[i] = 128
		}
	}
	return grey
}

func TestBlankJPEG(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{8, 8}, {16, 16}, {100, 75}} {
		want := new(bytes.Buffer)
		require.NoError(t, jpeg.Encode(want, greyImage(size.X, size.Y), nil))
		require.Equal(t, want.Bytes(), blankJPEG(size.X, size.Y))
	}
}
