package owner

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"stoa/graph/attachments"
	"stoa/graph/owners"
	"stoa/graph/platform/pages"
)

//go:embed templates
var templateFiles embed.FS

// view is an answer: a page made of a template, or plain text.
type view struct {
	template *template.Template
	status   int
	// Data for the template.
	Data any
	// Operator is shown at the foot of a page where it is known.
	Operator owners.Operator
	// file is sent instead of a page, if not nil.
	file *attachments.File
	// at is when the file was made.
	at time.Time
	// text is shown as plain text if there is no template.
	text string
}

// The templates. Each defines the title and the content of the layout.
var (
	confirmTemplate   = parse("confirm")
	confirmedTemplate = parse("confirmed")
	restoreTemplate   = parse("restore")
	restoredTemplate  = parse("restored")
	requestTemplate   = parse("request")
	requestedTemplate = parse("requested")
	documentTemplate  = parse("document")
	closedTemplate    = parse("closed")
	failureTemplate   = parse("failure")
	wishTemplate      = parse("wish")
	wishedTemplate    = parse("wished")
	exportTemplate    = parse("export")
	eraseTemplate     = parse("erase")
	erasingTemplate   = parse("erasing")
	keepTemplate      = parse("keep")
)

func parse(name string) *template.Template {
	layout := template.New("layout.html").Funcs(template.FuncMap{"moment": pages.Moment})
	return template.Must(layout.ParseFS(templateFiles, "templates/layout.html", "templates/"+name+".html"))
}

// write sends the answer.
func (v *view) write(w http.ResponseWriter) {
	mediaType, body := "text/plain; charset=utf-8", []byte(v.text)
	if v.template != nil {
		var page bytes.Buffer
		if err := v.template.Execute(&page, v); err != nil {
			panic(err) // the templates are part of the program
		}
		mediaType, body = "text/html; charset=utf-8", page.Bytes()
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(v.status)
	_, _ = w.Write(body) // a client that has gone away needs no answer
}
