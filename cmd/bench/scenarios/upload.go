package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/world"
)

// The uploaded picture, and when it is uploaded again.
const (
	pictureWidth  = 640
	pictureHeight = 480
	// busyWait is the time until an upload is repeated that the server was too busy for.
	busyWait = 100 * time.Millisecond
)

// Picture makes a JPEG.
func Picture() ([]byte, error) {
	picture := image.NewRGBA(image.Rect(0, 0, pictureWidth, pictureHeight))
	for y := range pictureHeight {
		for x := range pictureWidth {
			picture.Set(x, y, color.RGBA{R: uint8(x), G: uint8(y), B: uint8(x * y >> 4), A: 255})
		}
	}
	var file bytes.Buffer
	err := jpeg.Encode(&file, picture, nil)
	return file.Bytes(), err
}

// Upload makes the operation POST /attachments, each time of the next of the agents. It repeats what the server is too busy for.
func Upload(agents []*world.Agent, c *load.Client, picture []byte) load.Op {
	next := 0
	return func(ctx context.Context) error {
		a := agents[next%len(agents)]
		next++
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		_ = w.WriteField("purpose", "portfolio") // a buffer takes everything
		_ = w.WriteField("upload_id", uuid.NewString())
		part, _ := w.CreateFormFile("file", "picture.jpg")
		_, _ = part.Write(picture)
		_ = w.Close()
		request := fmt.Appendf(nil, "POST /api/v1/attachments HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: %s\r\nContent-Length: %d\r\n\r\n", a.Token, w.FormDataContentType(), form.Len())
		request = append(request, form.Bytes()...)
		for {
			status, body, err := c.Do(request)
			if err != nil || status == http.StatusCreated {
				return err
			}
			if !bytes.Contains(body, []byte(`"upload_busy"`)) {
				return fmt.Errorf("scenarios: an upload was answered %d: %s", status, body)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(busyWait):
			}
		}
	}
}
