package owner

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"net/http"
	"time"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/web"
)

//go:embed templates
var templateFiles embed.FS

// view is an answer: a page from a template, plain text, or a file.
type view struct {
	// template is the name of a page's template.
	template string
	status   int
	// Data is for the template.
	Data any
	// Operator is shown at the foot of a page, if known.
	Operator owners.Operator
	// file is sent instead of a page, if not nil.
	file *attachments.File
	// at is the file's time.
	at time.Time
	// text is shown as plain text if there is no template.
	text string
}

// templates are the pages by name; each defines the title and the content of the layout.
var templates = pages.Templates(templateFiles, template.FuncMap{"moment": pages.Moment}, "templates/layout.html")

// write sends the answer.
func (v *view) write(w http.ResponseWriter) {
	mediaType, body := "text/plain; charset=utf-8", []byte(v.text)
	if v.template != "" {
		var page bytes.Buffer
		if err := templates[v.template].Execute(&page, v); err != nil {
			panic(err) // the templates are part of the program
		}
		mediaType, body = "text/html; charset=utf-8", page.Bytes()
	}
	w.Header().Set("Content-Type", mediaType)
	web.WriteBody(w, v.status, body)
}

// readDocument reads a version of a document, which needs no token. Faults: not_found.
func (s *site) readDocument(ctx context.Context, id uuid.UUID, _ string) (*owners.DocumentText, error) {
	if id == uuid.Nil {
		return nil, fault.New(fault.NotFound)
	}
	return s.owners.ReadDocument(ctx, id)
}

func shownDocument(found *owners.DocumentText) *view {
	return &view{template: "document", status: http.StatusOK, Data: found}
}

// shownText shows the bytes that a document's hash covers.
func shownText(found *owners.DocumentText) *view {
	return &view{status: http.StatusOK, text: found.Text}
}

// failures are the faults that a person can act on.
var failures = map[fault.Code]pages.Failure{
	fault.NotFound: {
		Title: "There is no such page",
		Text:  "If you followed a link of a mail, please check that it was copied as a whole: some mail programs break it in two.",
	},
	fault.MethodNotAllowed:     {Title: "That does not work here", Text: "Please open the link of the mail again."},
	fault.UnsupportedMediaType: {Title: "That does not work here", Text: "This page only takes its own form. Please open it in a browser."},
	fault.InvalidInput:         {Title: "The form did not arrive whole", Text: "Please go back and try again."},
	fault.PayloadTooLarge:      {Title: "That was too much", Text: "The form is larger than it can be. Please go back and try again."},
	fault.RequestTimeout:       {Title: "That took too long", Text: "The form did not arrive in time. Please go back and try again."},
	fault.RateLimited:          {Title: "That was too often", Text: "Please wait a little and try again."},
	fault.RangeNotSatisfiable: {
		Title: "The file is not that long", Text: "The download may be complete already. Please begin it anew if it is not.",
	},
	fault.PreconditionFailed: {Title: "The file is another one", Text: "Please begin the download anew."},
	fault.ServiceUnavailable: {
		Title: "Stoa is not available at the moment", Text: "Nothing is lost. Please try again in a few seconds.",
	},
	fault.LifecycleSetupPending: {
		Title: "That cannot be done by email here",
		Text:  "This server does not offer it, or not yet. Please ask the operator of the server.",
	},
}

// WriteError answers a request under /owner/ with a page about a fault.
func WriteError(w http.ResponseWriter, known *fault.Error) {
	shown := pages.FailureOf(w.Header(), known, failures)
	(&view{template: "failure", status: known.Status(), Data: shown}).write(w)
}
