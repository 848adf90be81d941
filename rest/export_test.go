package rest

import (
	"strings"

	"stoa/graph"
)

// Row is the table's entry of one route, for tests that compare it with something else.
type Row struct {
	Method, Path string
	Status       int
	// Anyone and Readers say who may use it; neither means agents.
	Anyone, Readers bool
	// Body is the media type of the request body, empty for none; Empty says that the body may be left out.
	Body  string
	Empty bool
}

// Rows is the table of routes, with the paths of the listener.
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

// Pages are the paths that New serves besides the table.
func Pages() []string {
	s := &server{Config: Config{Graph: new(graph.Graph)}}
	paths := []string{"/healthz", "/readyz", SocketPath}
	for path := range s.descriptions() {
		if strings.HasSuffix(path, "/*") {
			continue // the description has no form for any number of segments
		}
		paths = append(paths, path)
	}
	return paths
}
