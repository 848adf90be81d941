package rest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"stoa/graph/platform/web"
	"stoa/rest/pages"
)

// localOrigin stands in the descriptions for the origin of the server; it is the one of a server with default settings.
const localOrigin = "http://127.0.0.1:8080"

var (
	//go:embed openapi.yaml
	openAPI string
	//go:embed skill.md
	skill string
	//go:embed llms.txt
	index string
)

// OpenAPIYAML is the description of the whole public listener (§9), with origin in servers; it may be empty.
func OpenAPIYAML(origin string) []byte { return withOrigin(openAPI, origin) }

// OpenAPI is OpenAPIYAML as JSON, its members in the same order.
func OpenAPI(origin string) ([]byte, error) {
	raw, err := yaml.YAMLToJSON([]byte(openAPI))
	if err != nil {
		return nil, err
	}
	quoted, err := json.Marshal(origin)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	return withOrigin(compact.String(), string(bytes.Trim(quoted, `"`))), nil
}

// withOrigin puts the origin of the server into a description.
func withOrigin(text, origin string) []byte {
	if origin == "" {
		origin = localOrigin
	}
	return []byte(strings.ReplaceAll(text, localOrigin, origin))
}

// descriptions are the paths that describe all others. They need neither database nor token, and pages of any origin may read them.
func (s *server) descriptions() map[string]http.Handler {
	text := func(text string) func() ([]byte, error) {
		return func() ([]byte, error) { return withOrigin(text, s.Origin), nil }
	}
	found := s.found()
	maps.Copy(found, map[string]http.Handler{
		"/api/v1/openapi.json": s.page("application/json", func() ([]byte, error) { return OpenAPI(s.Origin) }),
		"/skill.md":            s.page("text/markdown; charset=utf-8", text(skill)),
		"/llms.txt":            s.page("text/plain; charset=utf-8", text(index)),
	})
	for path, page := range found {
		found[path] = readableAnywhere(page)
	}
	return found
}

// readableAnywhere lets pages of any origin read a description.
func readableAnywhere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		next.ServeHTTP(w, r)
	})
}

// page serves a text that is made at the first request and does not change while the process lives.
func (s *server) page(mediaType string, text func() ([]byte, error)) http.Handler {
	once := sync.OnceValues(text)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := once()
		if err != nil {
			s.fail(w, r, err)
			return
		}
		tag := pages.ETag(raw)
		known, err := web.Precondition(r, tag, s.began)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		h := w.Header()
		h.Set("Cache-Control", "public, max-age=300")
		h.Set("ETag", tag)
		h.Set("Link", "<"+apiCatalogPath+`>; rel="api-catalog"`)
		if known {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Type", mediaType)
		h.Set("Content-Length", strconv.Itoa(len(raw)))
		_, _ = w.Write(raw) // a client that has gone away needs no answer
	})
}
