package attachments

import (
	"bytes"
	"context"
	"crypto/sha256"
	"hash"
	"image"
	_ "image/jpeg" // for image.DecodeConfig
	_ "image/png"  // for image.DecodeConfig

	"github.com/google/uuid"
	"gocloud.dev/blob"

	"stoa/graph/fault"
)

const (
	// MaxFile is the size of a file in bytes (§8).
	MaxFile = 20 << 20
	// maxPreview is what a preview takes at most: a JPEG of 1024 × 1024 noisy pixels.
	maxPreview = 1 << 20
	// headSize is how much of a file is looked at for its dimensions.
	headSize = 64 << 10
	// writeBuffer is what one writer of an object store holds in memory.
	writeBuffer = 5 << 20
)

// Draft is a file on its way into the store. It keeps nothing of the file in memory but its head. It is not safe for
// concurrent use and must be discarded in the end, stored or not.
type Draft struct {
	id     uuid.UUID
	open   func() (*blob.Writer, error)
	writer *blob.Writer
	cancel context.CancelFunc
	hash   hash.Hash
	size   int64
	head   []byte
	// failed is the store's first complaint. It waits until it is known that the upload is not a repeat, which needs no store.
	failed error
}

// NewDraft begins to receive a file.
func (a *API) NewDraft(ctx context.Context) *Draft {
	d := &Draft{id: uuid.Must(uuid.NewV7()), hash: sha256.New()}
	ctx, d.cancel = context.WithCancel(ctx)
	d.open = func() (*blob.Writer, error) { return a.Store.NewWriter(ctx, originalKey(d.id), writerOptions()) }
	return d
}

// begin opens the writer once there is something to write, so that a form without a file touches no store.
func (d *Draft) begin() {
	if d.writer == nil && d.failed == nil {
		d.writer, d.failed = d.open()
	}
}

func writerOptions() *blob.WriterOptions {
	return &blob.WriterOptions{
		ContentType: "application/octet-stream", DisableContentTypeDetection: true, BufferSize: writeBuffer, MaxConcurrency: 1,
	}
}

// Write takes the next bytes of the file. payload_too_large once they are more than MaxFile.
func (d *Draft) Write(p []byte) (int, error) {
	if d.size+int64(len(p)) > MaxFile {
		return 0, fault.New(fault.PayloadTooLarge).Say("A file may have at most 20 MiB.")
	}
	d.size += int64(len(p))
	d.hash.Write(p)
	d.head = append(d.head, p[:min(len(p), headSize-len(d.head))]...)
	if d.begin(); d.failed == nil {
		_, d.failed = d.writer.Write(p)
	}
	return len(p), nil
}

// keep makes the bytes durable; service_unavailable where the store cannot.
func (d *Draft) keep() error {
	if d.begin(); d.failed == nil {
		d.failed = d.writer.Close()
		d.writer = nil
	}
	if d.failed != nil {
		return fault.Wrap(fault.ServiceUnavailable, d.failed).Say("The file store is not available at the moment.")
	}
	return nil
}

// Discard ends the draft. What was not kept leaves nothing behind.
func (d *Draft) Discard() {
	d.cancel()
	if d.writer != nil {
		_ = d.writer.Close() // says that it was cancelled
		d.writer = nil
	}
}

// reserve is what the original and its preview may take in bytes. A small image has a small preview, which its head tells; the
// inspection does not trust the head, and neither does finish, which looks at the preview itself.
func (d *Draft) reserve() int64 {
	room := int64(maxPreview)
	if shape, _, err := image.DecodeConfig(bytes.NewReader(d.head)); err == nil {
		const headers, perPixel = 4 << 10, 3
		pixels := int64(min(shape.Width, 1024)) * int64(min(shape.Height, 1024))
		room = min(room, headers+perPixel*pixels)
	}
	return d.size + room
}
