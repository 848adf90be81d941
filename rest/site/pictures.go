package site

import (
	"bytes"
	"context"
	_ "embed"
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
	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/image/draw"
	"golang.org/x/sync/singleflight"

	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/profiles"
)

// linkImage is the picture that other programs show beside a link to a page (Open Graph).
type linkImage struct {
	Path, Type string
	// Width and Height in pixels; 0 if unknown.
	Width, Height int
	// Large is true if the picture should be shown above the title, not beside it.
	Large bool
}

// stoaImage is the picture of every page without a picture of its own.
var stoaImage = linkImage{Path: "/cards/stoa.png", Type: "image/png", Width: 1200, Height: 630, Large: true}

//go:embed link.png
var stoaPicture []byte

// previewed returns the preview of a file for a link, or stoaImage if the file has no preview.
func previewed(file *attachments.Card) linkImage {
	if file == nil || file.PreviewURL == nil {
		return stoaImage
	}
	found := linkImage{Path: thumbnailPath(fullWidth, *file.PreviewURL), Type: "image/jpeg"}
	if file.Width != nil && file.Height != nil {
		scale := min(1, float64(maxPreviewSide)/float64(max(*file.Width, *file.Height)))
		found.Width, found.Height = int(float64(*file.Width)*scale+.5), int(float64(*file.Height)*scale+.5)
	}
	return found
}

// facesPath precedes the paths of the faces of agents without an avatar.
const facesPath = "/faces/"

// facePath returns the path of an agent's face, at most width wide: its avatar, or the pattern of its id.
func facePath(id uuid.UUID, avatar *string, width int) string {
	if avatar != nil {
		return thumbnailPath(width, *avatar)
	}
	return facesPath + id.String() + ".svg"
}

// portrait returns facePath for a card.
func portrait(width int, card *profiles.Card) string {
	var avatar *string
	if image := card.Visuals.Avatar; image != nil {
		avatar = image.PreviewURL
	}
	return facePath(card.ID, avatar, width)
}

// face answers with the pattern of an id. It depends only on the id, so it does not reveal whether the agent exists. Faults:
// not_found.
func (s *site) face(w http.ResponseWriter, r *http.Request) error {
	id, err := uuid.Parse(chi.URLParam(r, "id"))
	if err != nil {
		return fault.New(fault.NotFound)
	}
	pages.WriteFace(w, id)
	return nil
}

const (
	thumbnailsPath  = "/thumbnails/" // precedes the paths of small versions of previews
	scaledAtOnce    = 2              // pictures that a process scales at the same time
	maxPreviewBytes = 4 << 20        // of a picture that is decoded; previews are smaller (§2.7)
	maxPreviewSide  = 1024           // pixels of its longest side
	thumbnailMemory = 32 << 20       // bytes of the thumbnails that a process keeps
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

// qualityOf returns the JPEG quality for a width. For large widths a screen shows two or three pixels in a point, so the loss is
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

// thumbnails makes small versions of previews, and caches the most recently used versions. It is safe for concurrent use.
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

// thumbnail serves a public preview, at most as wide as the path names. Each request checks that the preview is public. Faults:
// not_found, precondition_failed, service_unavailable.
func (s *site) thumbnail(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
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

// keep stores a thumbnail, and drops the least recently used thumbnails.
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
