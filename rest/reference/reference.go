// Package reference renders the server's OpenAPI description as a page that fits into a model's context: every request with its
// fields, its answer and its error codes.
package reference

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"stoa/graph/platform/fault"
)

// Limit is the maximum size of the page in bytes.
const Limit = 30_000

// prefix begins most paths; the page leaves it out.
const prefix = "/api/v1"

//go:embed reference.md.tmpl
var layout string

var page = template.Must(template.New("reference").Parse(layout))

// description holds the parts of an OpenAPI document that the page shows. The template calls its methods.
type description struct {
	Tags []struct {
		Name string `json:"name"`
	} `json:"tags"`
	Paths      map[string]map[string]*operation `json:"paths"`
	Components map[string]map[string]*node      `json:"components"`
}

type operation struct {
	Tags        []string         `json:"tags"`
	Summary     string           `json:"summary"`
	Security    *[]any           `json:"security"`
	Parameters  []*node          `json:"parameters"`
	RequestBody *node            `json:"requestBody"`
	Responses   map[string]*node `json:"responses"`

	Method, Path string `json:"-"`
}

// node is a parameter, a body, a response or a schema.
type node struct {
	Ref        string           `json:"$ref"`
	Name       string           `json:"name"`
	In         string           `json:"in"`
	Schema     *node            `json:"schema"`
	Content    map[string]*node `json:"content"`
	Type       any              `json:"type"`
	Const      any              `json:"const"`
	Enum       []any            `json:"enum"`
	MaxLength  int              `json:"maxLength"`
	Pattern    string           `json:"pattern"`
	MaxItems   int              `json:"maxItems"`
	Required   any              `json:"required"`
	Properties map[string]*node `json:"properties"`
	Items      *node            `json:"items"`
	OneOf      []*node          `json:"oneOf"`
	AnyOf      []*node          `json:"anyOf"`
	AllOf      []*node          `json:"allOf"`
}

// everywhere lists the responses of nearly every operation; the page explains them once.
var everywhere = []string{
	"Unauthorized", "Suspended", "TooSlow", "TooLarge", "WrongType", "WriteLimited", "RequestLimited", "LargeHeader", "Defect", "Unavailable",
	"OtherVersion",
}

// Page returns the reference page for a description in JSON.
func Page(openapi []byte) ([]byte, error) {
	d, made := new(description), new(bytes.Buffer)
	if err := json.Unmarshal(openapi, d); err != nil {
		return nil, err
	}
	err := page.Execute(made, d)
	return made.Bytes(), err
}

// follow returns the component that a node refers to, or the node itself.
func (d *description) follow(n *node) *node {
	for n != nil && n.Ref != "" {
		kind, name, _ := strings.Cut(strings.TrimPrefix(n.Ref, "#/components/"), "/")
		n = d.Components[kind][name]
	}
	return n
}

// component returns the name of the component that a node refers to.
func (n *node) component() string { return n.Ref[strings.LastIndex(n.Ref, "/")+1:] }

// Operations returns the operations of a tag, by path and method.
func (d *description) Operations(tag string) []*operation {
	var all []*operation
	for path, methods := range d.Paths {
		for method, o := range methods {
			if slices.Contains(o.Tags, tag) && (strings.HasPrefix(path, prefix) || method != "get") {
				o.Method, o.Path = strings.ToUpper(method), strings.TrimPrefix(path, prefix)
				all = append(all, o)
			}
		}
	}
	slices.SortFunc(all, func(a, b *operation) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method)) })
	return all
}

// Access returns a mark for an operation that needs no token, or nothing.
func (o *operation) Access() string {
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
func (d *description) Query(o *operation) string {
	var words []string
	for _, p := range o.Parameters {
		if p = d.follow(p); p.In != "query" {
			continue
		}
		word := p.Name
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
func (d *description) Body(o *operation) string {
	if o.RequestBody == nil {
		return ""
	}
	for _, body := range o.RequestBody.Content {
		return d.members(d.resolve(body.Schema), true)
	}
	return ""
}

// Answer returns the success statuses with their content; a status for repeats has the same content.
func (d *description) Answer(o *operation) string {
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
				if name := body.Schema.component(); d.isListed(name) {
					kind = name
				}
			}
		}
	}
	return strings.TrimSpace(strings.Join(statuses, "/") + " " + kind)
}

// Codes returns the codes of an operation besides the codes of every request.
func (d *description) Codes(o *operation) string {
	codes := make(map[string]bool)
	for status, r := range o.Responses {
		if status < "400" || slices.Contains(everywhere, r.component()) {
			continue
		}
		body := d.follow(r).Content["application/json"]
		if body == nil || body.Schema == nil || body.Schema.Properties["error"] == nil {
			continue
		}
		if code := body.Schema.Properties["error"].Properties["code"]; code != nil {
			for _, one := range code.Enum {
				codes[fmt.Sprint(one)] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(codes)), " ")
}

// AllCodes returns all error codes by status, except the codes about paths and methods that the page does not have.
func (*description) AllCodes() map[int]string {
	all := make(map[int]string)
	for _, code := range fault.Codes() {
		if code != fault.MethodNotAllowed && code != fault.ExpectationFailed {
			status := fault.New(code).Status()
			all[status] = strings.TrimSpace(all[status] + " " + string(code))
		}
	}
	return all
}

// Records returns the records that several answers share, and the enumerations that are longer than their names.
func (d *description) Records() map[string]string {
	all := make(map[string]string)
	for name, s := range d.Components["schemas"] {
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
func (d *description) isListed(name string) bool {
	return d.isRecord(name) && name != "Error" && !slices.ContainsFunc(
		[]string{"Input", "Result", "Page", "List", "Form", "Frame", "Detail", "Sent"},
		func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}
