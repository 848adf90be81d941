package resttest

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"stoa/rest"
)

// Description is the compiled OpenAPI document.
type Description struct {
	// Document is the whole of it as plain JSON values; numbers are json.Number.
	Document map[string]any
	// Operations are those of paths, in no order.
	Operations []*Operation

	everyPath map[int]*response
	// frames of the event channel by their type.
	frames  map[string]*schema
	schemas *compiler
}

// Operation is one method of one path.
type Operation struct {
	// ID is the operationId, Method in capitals, Path the template.
	ID, Method, Path string

	described map[string]any
	segments  []string
	query     map[string]*schema
	body      map[string]*schema
	responses map[int]*response
}

// response describes the headers and the body of one status.
type response struct {
	headers map[string]*header
	content map[string]*schema
}

type header struct {
	required bool
	schema   *schema
}

// Load compiles the description that the server serves; the same one is returned every time.
var Load = sync.OnceValues(load)

func load() (*Description, error) {
	raw, err := rest.OpenAPI("")
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	d := &Description{Document: object(value), frames: map[string]*schema{}}
	if d.schemas, err = newCompiler(d.Document); err != nil {
		return nil, err
	}
	for path, item := range object(d.Document["paths"]) {
		for method, member := range object(item) {
			operation, err := d.operation(path, method, object(member))
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			d.Operations = append(d.Operations, operation)
		}
	}
	for name, shape := range map[string]string{"event": "EventFrame", "acked": "AckedFrame"} {
		if d.frames[name], err = d.schemas.compile(pointer("components", "schemas", shape)); err != nil {
			return nil, err
		}
	}
	every := object(d.Document["x-every-path"])
	d.everyPath, err = d.responses("/x-every-path/responses", object(every["responses"]))
	return d, err
}

func (d *Description) operation(path, method string, described map[string]any) (*Operation, error) {
	at := pointer("paths", path, method)
	id, _ := described["operationId"].(string)
	o := &Operation{ID: id, Method: strings.ToUpper(method), Path: path, described: described, segments: strings.Split(path, "/"), query: map[string]*schema{}}
	var err error
	if o.responses, err = d.responses(at+"/responses", object(described["responses"])); err != nil {
		return nil, err
	}
	if body := object(described["requestBody"]); body != nil {
		if o.body, err = d.content(at+"/requestBody/content", object(body["content"])); err != nil {
			return nil, err
		}
	}
	parameters, _ := described["parameters"].([]any)
	for i, member := range parameters {
		parameter, at := d.follow(member, at+"/parameters/"+strconv.Itoa(i))
		name, _ := parameter["name"].(string)
		if parameter["in"] != "query" {
			continue
		}
		if o.query[name], err = d.schemas.compile(at + "/schema"); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (d *Description) responses(at string, described map[string]any) (map[int]*response, error) {
	all := make(map[int]*response, len(described))
	for name, member := range described {
		status, err := strconv.Atoi(name)
		if err != nil {
			return nil, err
		}
		found, at := d.follow(member, at+"/"+name)
		r := &response{headers: map[string]*header{}}
		for name, member := range object(found["headers"]) {
			described, at := d.follow(member, at+"/headers/"+name)
			h := &header{required: described["required"] == true}
			if h.schema, err = d.schemas.compile(at + "/schema"); err != nil {
				return nil, err
			}
			r.headers[http.CanonicalHeaderKey(name)] = h
		}
		if r.content, err = d.content(at+"/content", object(found["content"])); err != nil {
			return nil, err
		}
		all[status] = r
	}
	return all, nil
}

func (d *Description) content(at string, described map[string]any) (map[string]*schema, error) {
	all := make(map[string]*schema, len(described))
	for mediaType, member := range described {
		all[mediaType] = nil
		if _, shaped := object(member)["schema"]; !shaped {
			continue
		}
		var err error
		if all[mediaType], err = d.schemas.compile(at + pointer(mediaType) + "/schema"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// follow resolves a reference to a component.
func (d *Description) follow(member any, at string) (found map[string]any, pointed string) {
	found = object(member)
	target, ok := found["$ref"].(string)
	if !ok {
		return found, at
	}
	at = strings.TrimPrefix(target, "#")
	found = d.Document
	for _, name := range strings.Split(at, "/")[1:] {
		found = object(found[name])
	}
	return found, at
}

func object(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

// pointer is a JSON pointer of these names.
func pointer(names ...string) string {
	var p strings.Builder
	for _, name := range names {
		p.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	return p.String()
}
