package console

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
)

const findQuery = `query ($q: String!) { find(q: $q) { hits { kind id name by with state } exact { kind id } } }`

// find redirects to the entity that matches the search exactly, or shows all hits. Faults: invalid_search; not_found for an
// id without a match.
func (s *console) find(w http.ResponseWriter, r *http.Request) error {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	answer, err := s.ask(r.Context(), findQuery, map[string]any{"q": q})
	if err != nil {
		return err
	}
	found := object(answer, "find")
	if exact := object(found, "exact"); exact != nil {
		return seeOther(w, pathOf(textOf(exact, "kind"), textOf(exact, "id")))
	}
	if _, isID := parseID(q); isID {
		return fault.New(fault.NotFound)
	}
	var groups []hitGroup
	for _, one := range objects(found, "hits") {
		title := "Transactions of the ledger"
		if listed := byType(textOf(one, "kind")); listed != nil {
			title = listed.Title
		}
		i := slices.IndexFunc(groups, func(g hitGroup) bool { return g.Title == title })
		if i < 0 {
			i = len(groups)
			groups = append(groups, hitGroup{Title: title})
		}
		groups[i].Hits = append(groups[i].Hits, one)
	}
	return s.show(w, r, view{template: "find", Title: "Find", Q: q, Data: groups})
}

// hitGroup holds the hits of a kind.
type hitGroup struct {
	Title string
	Hits  []map[string]any
}

// pathOf returns the page of an entity, or the list of entries of a transaction of the ledger.
func pathOf(kind, id string) string {
	if listed := byType(kind); listed != nil {
		return listed.Path + "/" + id
	}
	return "/ledger?transactionID=" + id
}

// facesPath is the prefix of the path of an agent's picture.
const facesPath = "/faces/"

// face draws the generated pattern of an agent's id.
func face(w http.ResponseWriter, r *http.Request) {
	id, ok := parseID(strings.TrimSuffix(r.PathValue("name"), ".svg"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	pages.WriteFace(w, uuid.MustParse(id))
}

// maxAvatar bounds the bytes that are read of a preview; previews are smaller.
const maxAvatar = 4 << 20

// avatar shows an agent's avatar if everyone may see it, else the pattern of its id.
func (s *console) avatar(w http.ResponseWriter, r *http.Request) error {
	found, err := s.Preview(r.Context(), attachments.AttachmentInput{AttachmentID: r.PathValue("file")})
	if err == nil {
		var reader io.ReadCloser
		if reader, err = found.Open(r.Context(), 0); err == nil {
			defer reader.Close()
			raw, err := io.ReadAll(io.LimitReader(reader, maxAvatar))
			if err == nil {
				return pages.Write(w, r, found.MediaType, raw)
			}
		}
	}
	return seeOther(w, facesPath+r.PathValue("id")+".svg")
}
