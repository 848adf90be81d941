// Package reference renders the server's OpenAPI description as a page that fits into a model's context: every request with its
// fields, its answer and its error codes.
package reference

import (
	"bytes"
	"cmp"
	_ "embed"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/template"

	"stoa/graph/platform/fault"
	"stoa/rest/openapi"
)

// Limit is the maximum size of the page in bytes.
const Limit = 30_000

// prefix begins most paths; the page leaves it out.
const prefix = "/api/v1"

//go:embed reference.md.tmpl
var layout string

var page = template.Must(template.New("reference").Parse(layout))

// description is a description as the page shows it. The template calls its methods.
type description struct{ *openapi.Description }

// everywhere lists the responses of nearly every operation; the page explains them once.
var everywhere = []string{
	"Unauthorized", "Suspended", "TooSlow", "TooLarge", "WrongType", "WriteLimited", "RequestLimited", "LargeHeader", "Defect", "Unavailable",
	"OtherVersion",
}

// Page returns the reference page for a description in JSON.
func Page(text []byte) ([]byte, error) {
	d, err := openapi.Parse(text)
	if err != nil {
		return nil, err
	}
	made := new(bytes.Buffer)
	err = page.Execute(made, description{d})
	return made.Bytes(), err
}

// Tagged returns the operations with a tag, by path and method.
func (d description) Tagged(tag string) (all []*openapi.Operation) {
	for _, o := range d.Operations {
		if slices.Contains(o.Tags, tag) && (strings.HasPrefix(o.Path, prefix) || o.Method != http.MethodGet) {
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b *openapi.Operation) int { return cmp.Compare(d.Path(a), d.Path(b)) })
	return all
}

// Path returns a path as the page shows it.
func (description) Path(o *openapi.Operation) string { return strings.TrimPrefix(o.Path, prefix) }

// Access returns a mark for an operation that needs no token, or nothing.
func (description) Access(o *openapi.Operation) string {
	switch {
	case o.Security == nil:
		return ""
	case len(*o.Security) == 0:
		return "(no token) "
	default:
		return "(token optional) "
	}
}

// Query lists the parameters of a query.
func (d description) Query(o *openapi.Operation) string {
	var words []string
	for _, p := range o.Parameters {
		if p.In != "query" {
			continue
		}
		word := p.Name
		if p.Required {
			word += "*"
		}
		if kind := d.kind(p.Schema); kind != "" && kind != "int" {
			word += "=" + kind
		}
		words = append(words, word)
	}
	if words == nil {
		return ""
	}
	return "?" + strings.Join(words, "&")
}

// Body lists the members of a body.
func (d description) Body(o *openapi.Operation) string {
	if o.RequestBody == nil {
		return ""
	}
	for _, body := range o.RequestBody.Content {
		return d.members(d.resolve(body.Schema), true)
	}
	return ""
}

// Answer returns the success statuses with their content, which is the same for repeats.
func (d description) Answer(o *openapi.Operation) string {
	var statuses []string
	kind := ""
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		if status >= "300" {
			continue
		}
		statuses = append(statuses, status)
		for media, body := range o.Responses[status].Content {
			if s := d.resolve(body.Schema); s != nil && len(s.Properties) > 0 && strings.Contains(media, "json") {
				kind = "{" + d.members(s, false) + "}"
				if name := openapi.Component(body.Schema.Ref); d.isListed(name) {
					kind = name
				}
			}
		}
	}
	return strings.TrimSpace(strings.Join(statuses, "/") + " " + kind)
}

// Codes returns the codes of an operation besides the codes of every request.
func (d description) Codes(o *openapi.Operation) string {
	var codes []string
	for status, r := range o.Responses {
		name := openapi.Component(r.Ref)
		if status < "400" || slices.Contains(everywhere, name) {
			continue
		}
		codes = append(codes, cmp.Or(d.Components.Responses[name], r).Codes()...)
	}
	slices.Sort(codes)
	return strings.Join(slices.Compact(codes), " ")
}

// AllCodes returns all error codes by status, except the code about the header Expect, which the page lacks.
func (description) AllCodes() map[int]string {
	all := make(map[int]string)
	for _, code := range fault.Codes() {
		if code != fault.ExpectationFailed {
			status := fault.New(code).Status()
			all[status] = strings.TrimSpace(all[status] + " " + string(code))
		}
	}
	return all
}

// Records returns the records that several answers share, and the enumerations that are longer than their names.
func (d description) Records() map[string]string {
	all := make(map[string]string)
	for name, s := range d.Components.Schemas {
		switch {
		case d.isListed(name):
			all[name] = d.members(d.resolve(s), false)
		case d.isChoice(name):
			all[name] = oneOf(d.resolve(s).Enum)
		}
	}
	return all
}

// isListed reports whether a component is a record that several answers share, not a request or an envelope around a record.
func (d description) isListed(name string) bool {
	return d.isRecord(name) && name != "Error" && !slices.ContainsFunc(
		[]string{"Input", "Result", "Page", "List", "Form", "Frame", "Detail", "Sent"},
		func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}
