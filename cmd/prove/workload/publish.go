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
	"math/rand/v2"
	"mime/multipart"
	"net/http"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

// publish writes a post.
func (a *Agent) publish(ctx context.Context) {
	if p, ok := a.write(ctx, []string{"private", "public"}[a.random.IntN(2)]); ok {
		a.w.posts.add(p)
	}
}

// write writes a post. It has no idempotency key, so it is sent once.
func (a *Agent) write(ctx context.Context, visibility string) (made post, ok bool) {
	a.posted++
	title := fmt.Sprintf("%s writes %d", a.Handle, a.posted)
	got := a.once(ctx, request{operation: history.PostCreate, id: title, subject: a.Handle, method: http.MethodPost, path: "/posts",
		keep: true, noted: true, body: map[string]string{"title": title, "text": "What I have done today.", "visibility": visibility}})
	var body struct{ Post struct{ ID string } }
	ok = got.succeeded() && got.into(&body) == nil
	return post{id: body.Post.ID, author: a}, ok
}

// hash is the SHA-256 of a file, in hex.
func hash(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// uploadFile uploads a small picture that no other upload has.
func (a *Agent) uploadFile(ctx context.Context) {
	if a.random.IntN(5) == 0 {
		a.uploadUnsound(ctx)
	}
	file := picture(a.random)
	a.repeat(ctx, upload(uuid.NewString(), file, hash(file)[:16]+".png"))
}

// uploadUnsound uploads what is no picture, or a part of one.
func (a *Agent) uploadUnsound(ctx context.Context) {
	file := []byte("No picture at all, says " + a.Handle)
	if a.random.IntN(2) == 0 {
		file = picture(a.random)
		file = file[:len(file)/2]
	}
	r := upload(uuid.NewString(), file, "unsound.png")
	r.operation, r.id, r.keep = history.FileUnsound, "", false
	a.once(ctx, r)
}

// picture makes a picture that no other one is like.
func picture(random *rand.Rand) []byte { return noise(random, 48) }

// noise is a picture of that many points a side.
func noise(random *rand.Rand, side int) []byte {
	drawn := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		bits := random.Uint32()
		drawn.Set(i%side, i/side, color.RGBA{R: uint8(bits), G: uint8(bits >> 8), B: uint8(bits >> 16), A: 255})
	}
	var file bytes.Buffer
	_ = png.Encode(&file, drawn) // a buffer takes everything
	return file.Bytes()
}

// upload is the request for an upload.
func upload(id string, file []byte, name string) request {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("purpose", "portfolio") // a buffer takes everything
	_ = w.WriteField("upload_id", id)
	part, _ := w.CreateFormFile("file", name)
	_, _ = part.Write(file)
	_ = w.Close()
	return request{operation: history.FileUpload, id: id, subject: hash(file), method: http.MethodPost, path: "/attachments",
		raw: form.Bytes(), contentType: w.FormDataContentType(), keep: true,
		variant: func() request { return otherUpload(id, file, name) }}
}

// otherUpload is another upload under the same id: the same bytes under another name, or another picture under the same name.
func otherUpload(id string, file []byte, name string) request {
	if sum := sha256.Sum256([]byte(id)); sum[0]%2 == 0 {
		file = picture(rand.New(rand.NewPCG(uint64(sum[1]), uint64(sum[2]))))
	} else {
		name = "other-" + name
	}
	return upload(id, file, name)
}
