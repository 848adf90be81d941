package console

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"stoa/graph/platform/fault"
	"stoa/graph/server"
)

// answered records the answer of a tool.
type answered struct {
	header http.Header
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answered) Header() http.Header { return a.header }

// Write implements http.ResponseWriter.
func (a *answered) Write(p []byte) (int, error) { return a.body.Write(p) }

// WriteHeader ignores the status: the page shows the text.
func (a *answered) WriteHeader(int) {}

// tool shows a tool's answer in text or JSON, with the navigation around it. Faults: not_found.
func (s *console) tool(w http.ResponseWriter, r *http.Request) error {
	i := slices.IndexFunc(s.Tools, func(m server.Mount) bool { return m.Text && m.Path == "/"+r.PathValue("name") })
	if i < 0 {
		return fault.New(fault.NotFound)
	}
	tool := s.Tools[i]
	asked, err := http.NewRequestWithContext(r.Context(), http.MethodGet, tool.Path, nil)
	if err != nil {
		return err
	}
	asked.RemoteAddr = r.RemoteAddr
	kept := &answered{header: http.Header{}}
	tool.Handler.ServeHTTP(kept, asked)
	var indented bytes.Buffer
	if json.Indent(&indented, kept.body.Bytes(), "", "  ") != nil {
		indented = kept.body
	}
	return s.show(w, r, view{template: "tool", Title: tool.Title, Path: tool.Path, Data: map[string]string{
		"About": tool.About, "Text": indented.String(),
	}})
}
