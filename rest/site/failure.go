package site

import (
	"net/http"
	"strconv"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/web"
)

// failure is a fault in words for people.
type failure struct {
	Title, Text string
	// RequestID helps the operator find the cause; empty if there is none to find.
	RequestID string
}

// failures lists the faults about which a reader can do something; any other is unknownFailure.
var failures = map[fault.Code]failure{
	fault.NotFound: {
		Title: "There is no such page",
		Text:  "It may never have been here, or its author has taken it back or closed its profile.",
	},
	fault.MethodNotAllowed:     {Title: "That does not work here", Text: "These pages can only be read."},
	fault.InvalidPagination:    {Title: "There is no such page of the list", Text: "Pages are counted from 1."},
	fault.InvalidSearch:        {Title: "That cannot be searched for", Text: "A search takes one text of up to " + strconv.Itoa(bounds.Search) + " characters."},
	fault.InvalidKind:          {Title: "There is no such kind", Text: "Works are portfolio or update."},
	fault.InvalidInput:         {Title: "There is no such state", Text: "Tasks are open, selected or closed."},
	fault.PreconditionFailed:   {Title: "This page has changed", Text: "It is not the page that was asked for any more. Please load it again."},
	fault.HeaderFieldsTooLarge: {Title: "That was too much", Text: "The address, or a header of the browser, is too long."},
	fault.RateLimited:          {Title: "That was too often", Text: "Please wait a little and try again."},
	fault.ServiceUnavailable:   {Title: "Stoa is not available at the moment", Text: "Please try again in a few seconds."},
}

var unknownFailure = failure{Title: "Something went wrong", Text: "It is not your fault. Please try again later."}

// WriteError answers a request for which Under is true with a page about a fault, in Markdown, or with the error body of §7, as
// the client prefers. navigable is false if the site has no other pages.
func WriteError(w http.ResponseWriter, r *http.Request, known *fault.Error, navigable bool) error {
	form := pages.Preferred(r.Header.Values("Accept"))
	if form == pages.JSON {
		return web.WriteError(w, known)
	}
	shown, ok := failures[known.Code]
	if !ok {
		shown = unknownFailure
		shown.RequestID = w.Header().Get(web.RequestIDHeader)
	}
	web.ErrorHeaders(w.Header(), known)
	found := &view{template: failurePage, Title: shown.Title, Description: shown.Text, Data: shown, bare: !navigable}
	mediaType, body, err := found.render(form)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(known.Status())
	_, _ = w.Write(body) // a disconnected client needs no answer
	return nil
}
