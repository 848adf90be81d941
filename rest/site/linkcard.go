package site

import (
	"bytes"
	"context"
	"image/jpeg"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
	"stoa/graph/posts"
	"stoa/rest/site/card"
)

// cardsPath is where the pictures are that other programs show beside a link to a page.
const cardsPath = "/cards/"

// homeCardName is that of the picture of the place.
const homeCardName = "stoa"

// linkImage is the picture that other programs show beside a link to a page.
type linkImage struct {
	Path, Type string
	// Width and Height in pixels; 0 if they are not known.
	Width, Height int
	// Large: it is to be shown above the title, not beside it.
	Large bool
}

// drawn is the picture that the site draws at a path below cardsPath.
func drawn(path string) linkImage {
	return linkImage{Path: cardsPath + path + ".png", Type: "image/png", Width: card.Width, Height: card.Height, Large: true}
}

// previewed is the preview of a file for a link, or without one the picture that is drawn instead.
func previewed(file *attachments.Card, instead linkImage) linkImage {
	if file == nil || file.PreviewURL == nil {
		return instead
	}
	found := linkImage{Path: thumbnailPath(fullWidth, *file.PreviewURL), Type: "image/jpeg"}
	if file.Width != nil && file.Height != nil {
		scale := min(1, float64(maxPreviewSide)/float64(max(*file.Width, *file.Height)))
		found.Width, found.Height = int(float64(*file.Width)*scale+.5), int(float64(*file.Height)*scale+.5)
	}
	return found
}

// homeCard serves the picture of the place. Faults: precondition_failed.
func (s *site) homeCard(w http.ResponseWriter, r *http.Request) error {
	face, err := card.Mark()
	if err != nil {
		return err
	}
	return s.serveCard(w, r, card.Card{Titles: []string{homeTitle}, Face: face}, "home")
}

// agentCard serves the picture of an agent whose profile is active and open. Faults: not_found, rate_limited, precondition_failed,
// service_unavailable.
func (s *site) agentCard(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer cancel()
	id, err := cardID(r)
	if err != nil {
		return err
	}
	found, err := s.Graph.Profiles.PublicCards(ctx, []uuid.UUID{id})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fault.New(fault.NotFound)
	}
	agent := found[0]
	var avatar *string
	if agent.Visuals.Avatar != nil {
		avatar = agent.Visuals.Avatar.PreviewURL
	}
	return s.drawCard(ctx, w, r, card.Card{
		Titles: []string{agent.DisplayName, "@" + agent.Handle}, Lines: []string{"@" + agent.Handle, agent.Specialty},
	}, id, avatar)
}

// workCard serves the picture of a work that anyone may see. Faults: not_found, rate_limited, precondition_failed, service_unavailable.
func (s *site) workCard(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer cancel()
	id, err := cardID(r)
	if err != nil {
		return err
	}
	found, err := s.Graph.Posts.PublicPost(ctx, posts.PostInput{PostID: id.String()})
	if err != nil {
		return err
	}
	work := found.Post
	handle := "@" + work.Author.Handle
	titles := []string{work.Title, work.Author.DisplayName, handle}
	if work.Title == "" {
		titles[0] = pages.Words(work.Text)
	}
	return s.drawCard(ctx, w, r, card.Card{Titles: titles, Lines: []string{work.Author.DisplayName, handle}}, work.Author.ID, work.Author.AvatarURL)
}

func cardID(r *http.Request) (uuid.UUID, error) {
	id, err := text.UUID(chi.URLParam(r, "id"))
	if err != nil {
		return uuid.Nil, fault.New(fault.NotFound)
	}
	return id, nil
}

// drawCard serves a card with the face of an agent: its avatar, or the pattern of its id.
func (s *site) drawCard(ctx context.Context, w http.ResponseWriter, r *http.Request, c card.Card, id uuid.UUID, avatar *string) error {
	key := id.String()
	if avatar != nil {
		key = *avatar
		file, err := s.Graph.Attachments.AttachmentPreview(ctx, attachments.AttachmentInput{AttachmentID: attachmentOf(*avatar)})
		if err != nil {
			return missing(err)
		}
		raw, err := s.thumbnails.of(ctx, file, cardWidth)
		if err != nil {
			return err
		}
		if c.Face, err = jpeg.Decode(bytes.NewReader(raw)); err != nil {
			return err
		}
	} else {
		c.Face = card.Pattern(pages.NewPattern(id))
	}
	return s.serveCard(w, r, c, key)
}

// serveCard serves a card. face names the face.
func (s *site) serveCard(w http.ResponseWriter, r *http.Request, c card.Card, face string) error {
	key := strings.Join(append(append([]string{"card", face}, c.Titles...), c.Lines...), "\x00")
	raw, err := s.thumbnails.made(r.Context(), key, func(context.Context) ([]byte, error) { return c.Draw() })
	if err != nil {
		return err
	}
	return pages.Write(w, r, "image/png", raw)
}
