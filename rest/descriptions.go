package rest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"

	"stoa/docs"
	"stoa/graph/orders"
	"stoa/graph/platform/pages"
	"stoa/rest/npm"
	"stoa/rest/reference"
)

// localOrigin is the origin of a server with default settings. In the descriptions it is the placeholder for the server's origin.
const localOrigin = "http://127.0.0.1:8080"

var (
	//go:embed openapi.yaml
	openAPIFile string
	// openAPIJSONFile is openapi.yaml as JSON, from make generate: a conversion takes 400 ms of processor time and 70 MB.
	//go:embed openapi.json
	openAPIJSONFile string
	//go:embed skill.md
	skillFile string
	//go:embed llms.txt
	index string
)

// roles is a line of the description and the skill: the placeholder for the table of the actions of each side of an order.
const roles = "{{roles}}\n"

// rolesInJSON is the same line in a JSON string.
const rolesInJSON = `{{roles}}\n`

var (
	openAPI = strings.Replace(openAPIFile, "      "+roles, indented(orders.RoleTable()), 1)
	skill   = strings.Replace(skillFile, roles, orders.RoleTable(), 1)
)

// indented returns a text as a YAML block of the description.
func indented(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n      ") + "\n"
}

// OpenAPIYAML returns the description of the whole public listener (§9), with origin in servers; origin may be empty.
func OpenAPIYAML(origin string) []byte { return withOrigin(openAPI, origin) }

// OpenAPI returns OpenAPIYAML as JSON, with the members in the same order.
func OpenAPI(origin string) []byte {
	inJSON := func(text string) string {
		quoted, _ := json.Marshal(text) //nolint:errchkjson // any text can be encoded
		return string(bytes.Trim(quoted, `"`))
	}
	text := strings.Replace(strings.TrimSuffix(openAPIJSONFile, "\n"), rolesInJSON, inJSON(orders.RoleTable()), 1)
	return withOrigin(text, inJSON(origin))
}

// withOrigin puts the origin of the server into a description.
func withOrigin(text, origin string) []byte {
	if origin == "" {
		origin = localOrigin
	}
	return []byte(strings.ReplaceAll(text, localOrigin, origin))
}

// descriptions returns the handlers of the paths that describe the server. They need no token and, except for the keys of
// receipts, no database. Pages of any origin may read them.
func (s *server) descriptions() map[string]http.Handler {
	const markdown = "text/markdown; charset=utf-8"
	text := func(mediaType, text string) http.Handler {
		return s.page(mediaType, func() ([]byte, error) { return withOrigin(text, s.Origin), nil })
	}
	catalog := func(mediaType string, made func() any) http.Handler {
		return s.page(mediaType, func() ([]byte, error) { return json.Marshal(made()) })
	}
	found := map[string]http.Handler{
		"/api/v1/openapi.json":       s.page("application/json", func() ([]byte, error) { return OpenAPI(s.Origin), nil }),
		"/skill.md":                  text(markdown, skill),
		skillFilePath:                text(markdown, skill),
		heartbeatPath:                text(markdown, heartbeat),
		"/orders.md":                 text(markdown, orders.Document()),
		contractPath:                 s.page(markdown, func() ([]byte, error) { return docs.Contract(), nil }),
		"/reference.md":              s.page(markdown, s.reference),
		"/llms.txt":                  text(plainText, index),
		wholeTextPath:                s.page(plainText, s.wholeText),
		robotsPath:                   text(plainText, s.robots()),
		skillIndexPath:               catalog("application/json", s.skillIndex),
		apiCatalogPath:               catalog(`application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`, s.apiCatalog),
		aiCatalogPath:                catalog("application/ai-catalog+json", s.aiCatalog),
		clientsPath + npm.FileName(): s.page("application/gzip", func() ([]byte, error) { return npm.Archive(s.at("")) }),
	}
	if s.Graph != nil { // a process describes only the paths that it serves
		found[keysPath] = s.publishedKeys()
		found[receiptKeysPath] = s.receiptKeys()
		found[serverCardPath] = catalog("application/mcp-server-card+json", s.serverCard)
		maps.Copy(found, s.logRoutes())
	}
	for path, page := range found {
		found[path] = naming(&operation{parameters: logParameters[path]}, readableAnywhere(page))
	}
	return found
}

// reference returns the description as a short page.
func (s *server) reference() ([]byte, error) {
	page, err := reference.Page(OpenAPI(s.Origin))
	return withOrigin(string(page), s.Origin), err
}

// readableAnywhere lets pages of any origin read a description.
func readableAnywhere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		next.ServeHTTP(w, r)
	})
}

// page serves a text that is built at the first request and never changes in this process.
func (s *server) page(mediaType string, text func() ([]byte, error)) http.Handler {
	once := sync.OnceValues(text)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := once()
		s.writePage(w, r, mediaType, pageAge, raw, err)
	})
}

// writePage answers with a description, which clients may cache for age, or with the fault of err.
func (s *server) writePage(w http.ResponseWriter, r *http.Request, mediaType, age string, raw []byte, err error) {
	if err == nil {
		w.Header().Set("Link", "<"+apiCatalogPath+`>; rel="api-catalog"`)
		err = pages.WriteCached(w, r, mediaType, age, s.began, raw)
	}
	if err != nil {
		w.Header().Del("Link")
		s.fail(w, r, err)
	}
}
