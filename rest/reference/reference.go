// Package reference makes a page of the server's OpenAPI description that fits into the context of a model: every request with its
// fields, what it answers, and the codes with which it fails.
package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limit is the most that the page may have, in bytes.
const Limit = 30_000

// prefix begins most paths; the page leaves it out.
const prefix = "/api/v1"

type description struct {
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	Paths      map[string]map[string]*operation `json:"paths"`
	Components struct {
		Schemas    map[string]*schema    `json:"schemas"`
		Responses  map[string]*response  `json:"responses"`
		Parameters map[string]*parameter `json:"parameters"`
	} `json:"components"`
}

type operation struct {
	Tags        []string             `json:"tags"`
	Summary     string               `json:"summary"`
	Security    *[]any               `json:"security"`
	Parameters  []*parameter         `json:"parameters"`
	RequestBody *content             `json:"requestBody"`
	Responses   map[string]*response `json:"responses"`

	method, path string
}

type parameter struct {
	Ref      string  `json:"$ref"`
	Name     string  `json:"name"`
	In       string  `json:"in"`
	Required bool    `json:"required"`
	Schema   *schema `json:"schema"`
}

type content struct {
	Content map[string]struct {
		Schema *schema `json:"schema"`
	} `json:"content"`
}

type response struct {
	content

	Ref string `json:"$ref"`
}

// everywhere are the responses that nearly every operation has, which the page explains once.
var everywhere = []string{
	"Unauthorized", "Suspended", "TooSlow", "TooLarge", "WrongType", "WriteLimited", "RequestLimited", "LargeHeader", "Defect", "Unavailable",
	"OtherVersion",
}

// Page returns the reference of a description in JSON.
func Page(openapi []byte) ([]byte, error) {
	var d description
	if err := json.Unmarshal(openapi, &d); err != nil {
		return nil, err
	}
	var page strings.Builder
	page.WriteString(head)
	for _, tag := range d.Tags {
		operations := d.operations(tag.Name)
		if len(operations) == 0 {
			continue
		}
		fmt.Fprintf(&page, "\n## %s\n\n", tag.Name)
		for _, o := range operations {
			page.WriteString(d.line(o))
		}
	}
	page.WriteString("\n## Records\n\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		switch s := d.resolve(d.Components.Schemas[name]); {
		case d.isListed(name):
			fmt.Fprintf(&page, "- %s: %s\n", name, d.members(s, false))
		case d.isChoice(name):
			fmt.Fprintf(&page, "- %s: %s\n", name, oneOf(s.Enum))
		}
	}
	page.WriteString("\n## Codes\n\n")
	codes := d.codes()
	for _, status := range slices.Sorted(maps.Keys(codes)) {
		fmt.Fprintf(&page, "- %s: %s\n", status, strings.Join(slices.Sorted(maps.Keys(codes[status])), " "))
	}
	return []byte(page.String()), nil
}

// operations are those of a tag, by path and method.
func (d *description) operations(tag string) []*operation {
	var all []*operation
	for path, methods := range d.Paths {
		for method, o := range methods {
			if slices.Contains(o.Tags, tag) && (strings.HasPrefix(path, prefix) || method != "get") {
				o.method, o.path = strings.ToUpper(method), strings.TrimPrefix(path, prefix)
				all = append(all, o)
			}
		}
	}
	slices.SortFunc(all, func(a, b *operation) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.method, b.method)) })
	return all
}

// line describes an operation.
func (d *description) line(o *operation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- `%s %s` %s%s", o.method, o.path+d.query(o), o.access(), o.Summary)
	if o.RequestBody != nil {
		for _, body := range o.RequestBody.Content {
			if s := d.resolve(body.Schema); s != nil && len(s.Properties) > 0 {
				b.WriteString(". " + d.members(s, true))
			}
			break
		}
	}
	b.WriteString(" → " + d.answers(o))
	if codes := d.own(o); len(codes) > 0 {
		b.WriteString("; " + strings.Join(codes, " "))
	}
	b.WriteString("\n")
	return b.String()
}

// access says that an operation needs no token, or nothing if it needs one.
func (o *operation) access() string {
	switch {
	case o.Security == nil:
		return ""
	case len(*o.Security) == 0:
		return "(no token) "
	default:
		return "(token optional) "
	}
}

// query lists the parameters of a query.
func (d *description) query(o *operation) string {
	var words []string
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
		}
		if p.In != "query" {
			continue
		}
		word := p.Name
		if kind := d.kind(p.Schema); kind != "" && kind != "int" {
			word += "=" + kind
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return ""
	}
	return "?" + strings.Join(words, "&")
}

// answers are the statuses of success with what they hold; a status that is for repeats holds the same.
func (d *description) answers(o *operation) string {
	var statuses []string
	kind := ""
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		if status >= "300" {
			continue
		}
		statuses = append(statuses, status)
		for media, body := range o.Responses[status].Content {
			if body.Schema == nil || !strings.Contains(media, "json") {
				continue
			}
			if s := d.resolve(body.Schema); s != nil && len(s.Properties) > 0 {
				kind = "{" + d.members(s, false) + "}"
				if name := strings.TrimPrefix(body.Schema.Ref, schemas); d.isListed(name) {
					kind = name
				}
			}
		}
	}
	return strings.TrimSpace(strings.Join(statuses, "/") + " " + kind)
}

// own are the codes of an operation besides those of every request.
func (d *description) own(o *operation) []string {
	codes := map[string]bool{}
	for status, r := range o.Responses {
		name := strings.TrimPrefix(r.Ref, "#/components/responses/")
		if status < "400" || slices.Contains(everywhere, name) {
			continue
		}
		for _, code := range d.codesOf(r) {
			codes[code] = true
		}
	}
	return slices.Sorted(maps.Keys(codes))
}

// codesOf are the error codes of a response.
func (d *description) codesOf(r *response) []string {
	if r.Ref != "" {
		r = d.Components.Responses[strings.TrimPrefix(r.Ref, "#/components/responses/")]
	}
	body := r.Content["application/json"].Schema
	if body == nil || body.Properties["error"] == nil || body.Properties["error"].Properties["code"] == nil {
		return nil
	}
	var codes []string
	for _, code := range body.Properties["error"].Properties["code"].Enum {
		codes = append(codes, fmt.Sprint(code))
	}
	return codes
}

// codes are all error codes by their status.
func (d *description) codes() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, methods := range d.Paths {
		for _, o := range methods {
			for status, r := range o.Responses {
				for _, code := range d.codesOf(r) {
					if all[status] == nil {
						all[status] = map[string]bool{}
					}
					all[status][code] = true
				}
			}
		}
	}
	return all
}

// isListed reports whether a component is a record that several answers share: no request, and no envelope around a record.
func (d *description) isListed(name string) bool {
	for _, suffix := range []string{"Input", "Result", "Page", "List", "Form", "Frame", "Detail", "Sent"} {
		if strings.HasSuffix(name, suffix) {
			return false
		}
	}
	return d.isRecord(name) && name != "Error"
}
