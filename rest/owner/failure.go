package owner

import (
	"net/http"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// failure is the text of a fault for people.
type failure struct {
	Title, Text string
	// RequestID helps the operator find the cause, or empty to find.
	RequestID string
}

// failures are the faults that a person can act on; for any other the page shows unknownFailure.
var failures = map[fault.Code]failure{
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

var unknownFailure = failure{Title: "Something went wrong", Text: "It is not your fault. Please try again later."}

// WriteError answers a request under /owner/ with a page about a fault.
func WriteError(w http.ResponseWriter, known *fault.Error) {
	shown, ok := failures[known.Code]
	if !ok {
		shown = unknownFailure
		shown.RequestID = w.Header().Get(web.RequestIDHeader)
	}
	web.ErrorHeaders(w.Header(), known)
	(&view{template: failureTemplate, status: known.Status(), Data: shown}).write(w)
}
