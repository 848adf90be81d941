package owner

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"

	"stoa/graph/attachments"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
	"stoa/graph/platform/web"
)

//go:embed templates
var templateFiles embed.FS

// view is an answer: a page made of a template, or plain text.
type view struct {
	template *template.Template
	status   int
	// Data for the template.
	Data any
	// Operator is shown at the foot of a page, if known.
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
	web.WriteBody(w, v.status, body)
}

// document shows a version of a document. Faults: not_found.
func (s *site) document(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	found, err := s.readDocument(ctx, r)
	if err != nil {
		return nil, err
	}
	return &view{template: documentTemplate, status: http.StatusOK, Data: found}, nil
}

// documentText serves the bytes that a document's hash covers. Faults: not_found.
func (s *site) documentText(ctx context.Context, r *http.Request, _ url.Values) (*view, error) {
	found, err := s.readDocument(ctx, r)
	if err != nil {
		return nil, err
	}
	return &view{status: http.StatusOK, text: found.Text}, nil
}

func (s *site) readDocument(ctx context.Context, r *http.Request) (*owners.DocumentText, error) {
	id, err := text.UUID(chi.URLParam(r, "id"))
	if err != nil {
		return nil, fault.New(fault.NotFound)
	}
	return s.owners.ReadDocument(ctx, id)
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
		Title: "Access cannot be restored by email here",
		Text:  "This server does not offer it, or not yet. Please ask the operator of the server.",
	},
}

// WriteError answers a request under /owner/ with a page about a fault.
func WriteError(w http.ResponseWriter, known *fault.Error) {
	shown := pages.FailureOf(w.Header(), known, failures)
	(&view{template: failureTemplate, status: known.Status(), Data: shown}).write(w)
}
