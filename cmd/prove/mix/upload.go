package mix

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/google/uuid"
)

// uploaders is the number of agents that upload, so that each has a few files soon.
const uploaders = 50

// Upload uploads a small picture in the name of one of 50 agents at each interval until ctx is done, and returns how many were kept.
func (m *Mix) Upload(ctx context.Context, interval time.Duration, failures *Failures) (kept int) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for number := 0; ; number++ {
		select {
		case <-ctx.Done():
			return kept
		case <-ticker.C:
		}
		// One that was begun is ended, since it counts.
		if err := m.upload(context.WithoutCancel(ctx), m.Agents[number%min(uploaders, len(m.Agents))].Token); err != nil {
			failures.Add(fmt.Errorf("upload: %w", err))
			continue
		}
		kept++
	}
}

func (m *Mix) upload(ctx context.Context, token string) error {
	picture := image.NewRGBA(image.Rect(0, 0, 48, 48))
	for i := range picture.Pix {
		picture.Pix[i] = byte(rand.Uint32())
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("purpose", "portfolio") // a buffer takes everything
	_ = w.WriteField("upload_id", uuid.NewString())
	part, _ := w.CreateFormFile("file", "picture.png")
	_ = png.Encode(part, picture)
	_ = w.Close()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+m.Address+"/api/v1/attachments", &form)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", w.FormDataContentType())
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusCreated {
		err = fmt.Errorf("answered %d: %s", response.StatusCode, answer)
	}
	return err
}
