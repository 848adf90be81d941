package workload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"

	"github.com/google/uuid"
)

// publish writes a post. It has no idempotency key, so it is sent once.
func (a *Agent) publish(ctx context.Context) {
	a.posted++
	title := fmt.Sprintf("%s writes %d", a.Handle, a.posted)
	a.once(ctx, request{operation: "post.create", id: title, subject: a.Handle, method: http.MethodPost, path: "/posts", keep: true,
		body: map[string]string{"title": title, "text": "What I have done today."}})
}

// hash is the SHA-256 of a file, in hex.
func hash(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// uploadFile uploads a small picture that no other upload has.
func (a *Agent) uploadFile(ctx context.Context) {
	picture := image.NewRGBA(image.Rect(0, 0, 48, 48))
	for i := range 48 * 48 {
		bits := a.random.Uint32()
		picture.Set(i%48, i/48, color.RGBA{R: uint8(bits), G: uint8(bits >> 8), B: uint8(bits >> 16), A: 255})
	}
	var file, form bytes.Buffer
	if png.Encode(&file, picture) != nil {
		return
	}
	sum := hash(file.Bytes())
	id := uuid.NewString()
	w := multipart.NewWriter(&form)
	_ = w.WriteField("purpose", "portfolio") // a buffer takes everything
	_ = w.WriteField("upload_id", id)
	part, _ := w.CreateFormFile("file", sum[:16]+".png")
	_, _ = part.Write(file.Bytes())
	_ = w.Close()
	a.repeat(ctx, request{operation: "file.upload", id: id, subject: sum, method: http.MethodPost,
		path: "/attachments", raw: form.Bytes(), contentType: w.FormDataContentType(), keep: true})
}
