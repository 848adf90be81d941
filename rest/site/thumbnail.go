package site

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"sync"

	"github.com/go-chi/chi/v5"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/image/draw"
	"golang.org/x/sync/singleflight"

	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
)

const (
	// thumbnailsPath precedes the paths of small versions of previews.
	thumbnailsPath = "/thumbnails/"
	// scaledAtOnce is the most pictures that a process scales at the same time.
	scaledAtOnce = 2
	// maxPreviewBytes and maxPreviewSide limit the decoded pictures; previews are smaller (§2.7).
	maxPreviewBytes, maxPreviewSide = 4 << 20, 1024
	// thumbnailMemory is the limit of the thumbnails that a process keeps, in bytes.
	thumbnailMemory = 32 << 20
)

// Widths of thumbnails in pixels: a face beside a name, a face on a card or a file in a list, a card on a phone, a card on a desktop
// or a picture on a phone, and a picture on a desktop, which is as large as the preview and takes fewer bytes.
const faceWidth, listWidth, cardWidth, pictureWidth, fullWidth = 64, 160, 360, 720, maxPreviewSide

var thumbnailWidths = []int{faceWidth, listWidth, cardWidth, pictureWidth, fullWidth}

var errNoPreview = errors.New("the preview is larger than previews are")

// thumbnailPath returns the path of a preview that is at most width wide.
func thumbnailPath(width int, preview string) string {
	return thumbnailsPath + attachmentOf(preview) + "/" + strconv.Itoa(width) + ".jpg"
}

// attachmentOf returns the id in the path of a preview.
func attachmentOf(preview string) string { return path.Base(path.Dir(preview)) }

// qualityOf returns the JPEG quality for a width. For large ones a screen shows two or three pixels in a point, so the loss is
// invisible.
func qualityOf(width int) int {
	switch {
	case width >= pictureWidth:
		return 55
	case width >= cardWidth:
		return 62
	default:
		return 75
	}
}

// sources returns the srcset of a preview, for places where it is large.
func sources(preview string) string {
	return thumbnailPath(cardWidth, preview) + " 360w, " + thumbnailPath(pictureWidth, preview) + " 720w, " +
		thumbnailPath(fullWidth, preview) + " 1024w"
}

// thumbnails makes small versions of previews, and caches the most recently used ones. It is safe for concurrent use.
type thumbnails struct {
	scaling singleflight.Group
	slots   chan struct{}

	mu   sync.Mutex
	kept *simplelru.LRU[string, []byte]
	size int
}

func newThumbnails() *thumbnails {
	t := &thumbnails{slots: make(chan struct{}, scaledAtOnce)}
	// The cache is limited by bytes; the number of entries only has to exceed the number that fits.
	t.kept, _ = simplelru.NewLRU(thumbnailMemory/512, func(_ string, raw []byte) { t.size -= len(raw) })
	return t
}

// thumbnail serves a public preview, at most as wide as the path says. Each request checks that the preview is public. Faults:
// not_found, precondition_failed, service_unavailable.
func (s *site) thumbnail(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer cancel()
	width, err := strconv.Atoi(chi.URLParam(r, "width"))
	if err != nil || !slices.Contains(thumbnailWidths, width) || chi.URLParam(r, "width") != strconv.Itoa(width) {
		return fault.New(fault.NotFound)
	}
	file, err := s.Graph.Attachments.AttachmentPreview(ctx, attachments.AttachmentInput{AttachmentID: chi.URLParam(r, "id")})
	if err != nil {
		return missing(err)
	}
	raw, err := s.thumbnails.of(ctx, file, width)
	if err != nil {
		return err
	}
	return pages.Write(w, r, "image/jpeg", raw)
}

// of returns a preview as a JPEG that is at most width wide, from the cache if possible. Requests for the same picture share the
// work.
func (t *thumbnails) of(ctx context.Context, file *attachments.File, width int) ([]byte, error) {
	key := strconv.Itoa(width) + " " + file.Tag
	t.mu.Lock()
	raw, ok := t.kept.Get(key)
	t.mu.Unlock()
	if ok {
		return raw, nil
	}
	shared, err, _ := t.scaling.Do(key, func() (any, error) {
		ctx, cancel := db.Bounded(context.WithoutCancel(ctx), db.RequestTimeout)
		defer cancel()
		select {
		case t.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, fault.Wrap(fault.ServiceUnavailable, ctx.Err())
		}
		defer func() { <-t.slots }()
		raw, err := scale(ctx, file, width)
		if err != nil {
			return nil, err
		}
		t.keep(key, raw)
		return raw, nil
	})
	raw, _ = shared.([]byte)
	return raw, err
}

// keep stores a thumbnail, and drops the least recently used ones.
func (t *thumbnails) keep(key string, raw []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept.Remove(key)
	t.kept.Add(key, raw)
	for t.size += len(raw); t.size > thumbnailMemory; {
		t.kept.RemoveOldest()
	}
}

// scale returns a preview that is at most width wide. If the preview is not wider and scaling saves no bytes, it is returned
// unchanged.
func scale(ctx context.Context, file *attachments.File, width int) ([]byte, error) {
	reader, err := file.Open(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	raw, err := io.ReadAll(io.LimitReader(reader, maxPreviewBytes+1))
	if err != nil {
		return nil, fault.Wrap(fault.ServiceUnavailable, err)
	}
	known, err := jpeg.DecodeConfig(bytes.NewReader(raw))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > maxPreviewBytes || known.Width > maxPreviewSide || known.Height > maxPreviewSide:
		return nil, errNoPreview
	}
	whole, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	shown := whole
	if known.Width > width {
		small := image.NewRGBA(image.Rect(0, 0, width, max(1, known.Height*width/known.Width)))
		draw.CatmullRom.Scale(small, small.Bounds(), whole, whole.Bounds(), draw.Src, nil)
		shown = small
	}
	var out bytes.Buffer
	err = jpeg.Encode(&out, shown, &jpeg.Options{Quality: qualityOf(width)})
	if err == nil && known.Width <= width && out.Len() >= len(raw) {
		return raw, nil
	}
	return out.Bytes(), err
}
