package rest

import (
	"strings"

	"stoa/graph"
)

// Row describes one route of the table, for tests.
type Row struct {
	Method, Path string
	Status       int
	// Anyone and Readers define who may call; neither: agents only.
	Anyone, Readers bool
	// Body is the media type of the request body, empty for none; Empty: the body may be left out.
	Body  string
	Empty bool
}

// Rows returns the table of routes, with the paths of the listener.
func Rows(g *graph.Graph) []Row {
	media := map[bodyUse]string{jsonBody: "application/json", optionalJSONBody: "application/json", formBody: "multipart/form-data"}
	var rows []Row
	for _, r := range routes(g) {
		rows = append(rows, Row{
			Method: r.method, Path: "/api/v1" + r.path, Status: r.status,
			Anyone: r.token == tokenIgnored, Readers: r.token == tokenOptional,
			Body: media[r.body], Empty: r.body == optionalJSONBody,
		})
	}
	return rows
}

// ToolsPath is toolsPath.
const ToolsPath = toolsPath

// Pages returns the paths that New serves besides the table.
func Pages() []string {
	s := &server{Config: Config{Graph: new(graph.Graph)}}
	paths := []string{"/healthz", "/readyz", SocketPath}
	for path := range s.descriptions() {
		if strings.HasSuffix(path, "/*") {
			continue // OpenAPI cannot describe any number of segments
		}
		paths = append(paths, path)
	}
	return paths
}
