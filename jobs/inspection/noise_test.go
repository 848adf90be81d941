package inspection_test

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/jobs/inspection"
	"stoa/jobs/inspection/render"
)

// The copy of a PNG of noise, which would be larger than a file may be, has fewer pixels, so that the file is accepted. No other
// test renders in this process.
func TestCopyOfNoise(t *testing.T) {
	t.Parallel()
	noise := image.NewNRGBA(image.Rect(0, 0, 300, 200))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(rand.Uint32()) | uint8(i%4/3*255)
	}
	var file bytes.Buffer
	require.NoError(t, png.Encode(&file, noise))
	for room, width := range map[int]int{200_000: 256, 100_000: 128, 20_000: 64} {
		made, err := render.Renderer{}.PNG(inspection.Source{File: file.Bytes(), Type: inspection.PNG}, 256, room)
		require.NoError(t, err)
		shape, err := png.DecodeConfig(bytes.NewReader(made.File))
		require.NoError(t, err)
		require.Equal(t, width, shape.Width)
		require.LessOrEqual(t, len(made.File), room)
	}
}

func TestMain(m *testing.M) { os.Exit(inspection.RunTests(m, render.Renderer{})) }
