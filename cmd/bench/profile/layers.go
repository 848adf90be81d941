// Package profile turns profiles of the server into what its layers cost. A layer is a set of packages; a sample counts for the
// layer of the innermost frame that belongs to any, so that a system call counts for the layer that made it.
package profile

import "strings"

// The layers of the server.
const (
	HTTP           = "HTTP"
	Routing        = "routing"
	Authentication = "authentication"
	Limits         = "limits"
	Binding        = "binding"
	Domain         = "domain"
	Statement      = "statement"
	JSON           = "JSON"
	EventChannel   = "event channel"
	Files          = "files"
	Jobs           = "jobs"
	Logging        = "logging"
	Metrics        = "metrics"
	Tracing        = "tracing"
	Process        = "process"
	// Collector and Scheduler are the runtime's own goroutines and stacks, which no package asked for.
	Collector = "garbage collector"
	Scheduler = "scheduler"
)

// Layer is a layer with the paths that belong to it: packages, folders of packages, or files. The longest path decides.
type Layer struct {
	Name string
	// What says what the layer does.
	What  string
	Paths []string
}

// Layers in the order in which a request passes them.
var Layers = []Layer{
	{HTTP, "reads requests and writes answers: net/http, its system calls, deadlines, headers that every answer has", []string{
		"net/http", "net/textproto", "mime/multipart", "stoa/graph/platform/httpserver", "stoa/graph/platform/web",
	}},
	{Routing, "finds the route and calls its method, with all that stands around it", []string{
		"stoa/rest", "github.com/go-chi/chi", "github.com/go-chi/cors",
	}},
	{Authentication, "whose token it is", []string{"stoa/rest/auth.go", "stoa/graph/auth"}},
	{Limits, "counts of requests, and what headers say of them", []string{"stoa/graph/platform/limits", "github.com/go-chi/httprate"}},
	{Binding, "path, query and body become an input, and the checks of its form", []string{
		"stoa/rest/bind.go", "stoa/rest/ignored.go", "stoa/graph/platform/page", "stoa/graph/platform/text", "github.com/go-playground",
	}},
	{Domain, "the operation itself", []string{"stoa/graph", "code.dny.dev/ssrf"}},
	{Statement, "database/sql, lib/pq and ent: arguments, system calls, rows", []string{
		"database/sql", "github.com/lib/pq", "entgo.io/ent", "stoa/ent", "stoa/graph/platform/db", "stoa/graph/platform/readpool", "stoa/migrate",
	}},
	{JSON, "reads bodies, and writes cards", []string{
		"encoding/json", "github.com/go-json-experiment", "stoa/graph/platform/wire", "stoa/rest/reply.go",
	}},
	{EventChannel, "sockets, polls and streams, and the wake-ups between processes", []string{
		"stoa/rest/socket", "stoa/rest/events.go", "github.com/gorilla/websocket",
	}},
	{Files, "takes, keeps and inspects files", []string{
		"gocloud.dev", "stoa/graph/attachments", "stoa/rest/upload.go", "stoa/rest/download.go", "stoa/jobs/inspection", "os/exec",
	}},
	{Jobs, "River and the jobs", []string{"stoa/jobs", "github.com/riverqueue", "riverqueue.com"}},
	{Logging, "writes the log", []string{"log", "log/slog"}},
	{Metrics, "counts for /metrics", []string{"github.com/prometheus", "stoa/graph/platform/metrics"}},
	{Tracing, "spans of OpenTelemetry", []string{"go.opentelemetry.io", "stoa/graph/platform/tracing"}},
	{Process, "starts and stops, operators' pages, other doors", []string{
		"stoa/cmd", "stoa/docs", "stoa/graph/server", "stoa/rest/client", "stoa/rest/mcp", "stoa/rest/npm", "stoa/rest/owner",
		"stoa/rest/reference", "stoa/rest/site",
	}},
	{Collector, "collects garbage beside the requests; what they assist counts for their layers", nil},
	{Scheduler, "finds the next goroutine, and waits for connections", nil},
}

// layerOf returns the layer of a file of a package, and whether one has it.
func layerOf(pkg, file string) (name string, found bool) {
	length := 0
	whole := pkg + "/" + file
	for _, layer := range Layers {
		for _, path := range layer.Paths {
			if len(path) > length && (whole == path || pkg == path || strings.HasPrefix(pkg, path+"/")) {
				name, length = layer.Name, len(path)
			}
		}
	}
	return name, length > 0
}

// packageOf returns the path of the package of a function as profiles name it, such as stoa/rest.(*server).call.
func packageOf(function string) string {
	function, _, _ = strings.Cut(function, "[") // type arguments may have slashes and dots
	slash := strings.LastIndexByte(function, '/') + 1
	if dot := strings.IndexByte(function[slash:], '.'); dot >= 0 {
		return strings.ReplaceAll(function[:slash+dot], "%2e", ".")
	}
	return function
}
