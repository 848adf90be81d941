package console

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
)

// facesPath is before the name of the picture of an agent.
const facesPath = "/faces/"

// face draws the pattern of an agent's id.
func face(w http.ResponseWriter, r *http.Request) {
	id, ok := parseID(strings.TrimSuffix(r.PathValue("name"), ".svg"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	pages.WriteFace(w, uuid.MustParse(id))
}

// maxAvatar bounds what is read of a preview, in bytes; previews are smaller.
const maxAvatar = 4 << 20

// avatar shows the picture that an agent has for a face, as everyone sees it; the pattern of its id if not everyone does.
func (s *console) avatar(w http.ResponseWriter, r *http.Request) {
	raw, mediaType, err := s.preview(r.Context(), r.PathValue("file"))
	if err != nil {
		_ = seeOther(w, facesPath+r.PathValue("id")+".svg")
		return
	}
	if err := pages.Write(w, r, mediaType, raw); err != nil {
		s.fail(w, r, err)
	}
}

func (s *console) preview(ctx context.Context, id string) (raw []byte, mediaType string, err error) {
	if s.Preview == nil {
		return nil, "", fault.New(fault.NotFound)
	}
	found, err := s.Preview(ctx, attachments.AttachmentInput{AttachmentID: id})
	if err != nil {
		return nil, "", err
	}
	reader, err := found.Open(ctx, 0)
	if err != nil {
		return nil, "", err
	}
	defer reader.Close()
	raw, err = io.ReadAll(io.LimitReader(reader, maxAvatar))
	return raw, found.MediaType, err
}
