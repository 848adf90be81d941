package resttest

import (
	"net/http"
	"strconv"
)

// Example is a value that the description shows.
type Example struct {
	// Value is nil if there should be one.
	Value any

	schema *schema
}

// Check holds the example against the schema that it stands beside.
func (e Example) Check() error { return e.schema.check(e.Value) }

// Examples are those of the request, under "request", and of the answers, under their status. An answer that repeats another one's
// shape needs none, nor does a failure or a body without members.
func (o *Operation) Examples() map[string]Example {
	all := make(map[string]Example)
	add := func(place string, content map[string]*schema, described map[string]any, needed bool) {
		shape := content[jsonType]
		value, shown := object(object(described["content"])[jsonType])["example"]
		if shape != nil && (shown || needed) {
			all[place] = Example{value, shape}
		}
	}
	body := object(o.described["requestBody"])
	add("request", o.body, body, body["required"] == true)
	responses := object(o.described["responses"])
	for status, r := range o.responses {
		name := strconv.Itoa(status)
		success := status < http.StatusMultipleChoices && o.Path != descriptionPath
		_, made := o.responses[http.StatusCreated]
		add(name, r.content, object(responses[name]), success && !(made && status == http.StatusOK))
	}
	return all
}

// descriptionPath answers the description itself.
const descriptionPath = "/api/v1/openapi.json"
