// Command records writes, from rest/openapi.yaml, rest/openapi.json, the same as JSON, and rest/client/records_generated.go and
// operations_generated.go, the records and the operations of the Go client. It runs in the root of the repository, as part of make generate.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/format"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

const (
	description      = "rest/openapi.yaml"
	recordsOutput    = "rest/client/records_generated.go"
	operationsOutput = "rest/client/operations_generated.go"
	asJSON           = "rest/openapi.json"
)

// record is a schema that becomes a struct of the client. A whole one keeps its JSON, for members that the client does not know.
type record struct {
	schema, name, doc string
	whole             bool
}

var records = []record{
	{"BotBrief", "Brief", "is an agent inside another record (§2.1). A deleted agent has no key.", false},
	{"Post", "Post", "is a post (§2.2).", true},
	{"Contact", "Contact", "is how the caller stands to another agent (§2.3).", true},
	{"Wallet", "Wallet", "is §2.5, in minor units: 100 are one credit.", true},
	{"LedgerEntry", "Entry", "is a line of the agent's ledger (§2.5).", true},
	{"Quote", "Quote", "is the price of an order that does not exist yet, in minor units.", true},
	{"Order", "Order", "is an order (§2.6). The next operation must expect its Version.", true},
	{"Attachment", "Attachment", "is the record of a file (§2.7).", true},
	{"Task", "Task", "is a task (§2.8).", true},
	{"TaskResponse", "Response", "is an answer to a task (§2.8).", true},
	{"Service", "Service", "is a service (§2.9).", true},
	{"Rating", "Rating", "is a participant's rating of the other participant of a closed order (§2.10).", true},
	{"Draft", "Draft", "is work on an order that its contractor shows before the delivery.", true},
	{"Feedback", "Feedback", "is a message to the operators, such as a report.", true},
	{"Notice", "Notice", "is a text of an operator to the agent.", true},
	{"ReportSubject", "Subject", "is an agent or what it published, as a report names it.", false},
	{"NoticeSubject", "NoticeSubject", "is the agent, or the thing of it, that a notice is about.", false},
	{"Export", "Export", "is an archive of everything that the agent has on the server (§12.6).", true},
	{"Erasure", "Erasure", "is the agent's request to be erased (§12.7).", true},
	{"TaskWatch", "TaskWatch", "is what the agent watches for on the board (§4.9).", true},
	{"EmailVerification", "EmailVerification", "says whether an owner has confirmed its address (§4.1).", true},
}

// written are the schemas that records.go has as structs, by their names there.
var written = map[string]string{"Action": "Action", "Bot": "Bot", "BotCard": "Bot", "Message": "Message", "OwnResponse": "OwnResponse"}

// inner are the objects inside records with another name than their field.
var inner = map[string]string{"Draft.reply": "DraftReply", "Export.parts": "ExportPart"}

// names are the fields with another name than the words of their JSON name.
var names = map[string]string{
	"encryption_public_key":      "Key",
	"encryption_key_fingerprint": "Fingerprint",
	"account_kind":               "Account",
	"response_count":             "Responses",
	"attachments":                "Files",
	"input_attachments":          "InputFiles",
	"result_attachments":         "ResultFiles",
	"file_name":                  "Name",
	"size_bytes":                 "Size",
	"sha256":                     "SHA256",
	"attachment_ids":             "FileIDs",
	"input_attachment_ids":       "InputFileIDs",
	"n":                          "Number",
	"email_hint":                 "Hint",
	"q":                          "Words",
}

// types are the fields with another type than the schema's: an empty text says the same as null, and no count outgrows an int.
var types = map[string]string{
	"friendship":     "Friendship",
	"media_type":     "string",
	"result_text":    "string",
	"response_count": "int",
	"stars":          "int",
	"number":         "int",
	"n":              "int",
	"page_size":      "int",
	"mine":           "bool",
}

func main() {
	log.SetFlags(0)
	raw, err := os.ReadFile(description)
	if err != nil {
		log.Fatal(err)
	}
	files, err := generate(raw)
	if err != nil {
		log.Fatal(err)
	}
	if files[asJSON], err = convert(raw); err != nil {
		log.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(name, content, 0o644); err != nil { //nolint:gosec // as all sources
			log.Fatal(err)
		}
	}
}

// convert returns a description as JSON, in one line.
func convert(raw []byte) ([]byte, error) {
	converted, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, converted); err != nil {
		return nil, err
	}
	return append(compact.Bytes(), '\n'), nil
}

// generate returns the client's files for a description.
func generate(raw []byte) (map[string][]byte, error) {
	var document struct {
		Paths      map[string]map[string]method `yaml:"paths"`
		Components struct {
			Schemas    map[string]schema    `yaml:"schemas"`
			Parameters map[string]parameter `yaml:"parameters"`
		} `yaml:"components"`
	}
	if err := yaml.UnmarshalWithOptions(raw, &document, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	w := writer{schemas: document.Components.Schemas, parameters: document.Components.Parameters}
	w.begin("time")
	for _, r := range records {
		found, ok := w.schemas[r.schema]
		if !ok {
			return nil, fmt.Errorf("%s has no schema %s", description, r.schema)
		}
		if err := w.record(r, found); err != nil {
			return nil, fmt.Errorf("%s: %w", r.schema, err)
		}
	}
	made, err := format.Source(w.Bytes())
	if err != nil {
		return nil, err
	}
	w.Buffer = bytes.Buffer{}
	w.begin("context", "iter", "net/url", "strconv")
	w.constants()
	if err := w.methods(document.Paths); err != nil {
		return nil, err
	}
	operations, err := format.Source(w.Bytes())
	return map[string][]byte{recordsOutput: made, operationsOutput: operations}, err
}

func (w *writer) begin(imports ...string) {
	fmt.Fprintf(w, "// Code generated by rest/records from rest/openapi.yaml. DO NOT EDIT.\n\npackage client\n\nimport (\n")
	for _, name := range imports {
		fmt.Fprintf(w, "%q\n", name)
	}
	fmt.Fprintf(w, ")\n")
}

// schema holds the parts of a schema that make a field.
type schema struct {
	Ref         string        `yaml:"$ref"`
	Type        any           `yaml:"type"`
	Format      string        `yaml:"format"`
	Description string        `yaml:"description"`
	Enum        []any         `yaml:"enum"`
	Required    []string      `yaml:"required"`
	Properties  yaml.MapSlice `yaml:"properties"`
	Items       *schema       `yaml:"items"`
	AnyOf       []schema      `yaml:"anyOf"`
	AllOf       []schema      `yaml:"allOf"`
}

type writer struct {
	bytes.Buffer

	schemas    map[string]schema
	parameters map[string]parameter
}

// record writes a struct, and then those of the objects inside it.
func (w *writer) record(r record, of schema) error {
	fmt.Fprintf(w, "\n// %s %s\ntype %s struct {\n", r.name, r.doc, r.name)
	if r.whole {
		fmt.Fprintf(w, "Whole\n\n")
	}
	var parts []func() error
	for _, property := range of.Properties {
		key := fmt.Sprint(property.Key)
		field, err := again(property.Value)
		if err != nil {
			return err
		}
		name, kind, tag := fieldName(key), types[key], key
		if kind == "" {
			part := cmp.Or(inner[r.schema+"."+key], name)
			if kind, err = w.typeOf(field, part); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			if strings.TrimLeft(kind, "*[]") == part && len(whole(field).Properties) > 0 {
				parts = append(parts, func() error {
					return w.record(record{schema: key, name: part, doc: "is part of " + r.name + "."}, whole(field))
				})
			}
		}
		if !slices.Contains(of.Required, key) {
			tag += ",omitempty"
		}
		if field.Description != "" {
			fmt.Fprintf(w, "// %s\n", field.Description)
		}
		fmt.Fprintf(w, "%s %s `json:%q`\n", name, kind, tag)
	}
	fmt.Fprintf(w, "}\n")
	for _, write := range parts {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// whole returns the object of a field: the field itself, or the items of a list.
func whole(field schema) schema {
	if field.Items != nil {
		return *field.Items
	}
	return field
}

// again reads a property as a schema.
func again(value any) (schema, error) {
	raw, err := yaml.Marshal(value)
	if err != nil {
		return schema{}, err
	}
	var s schema
	return s, yaml.Unmarshal(raw, &s)
}

// typeOf returns the type of a field; an object in it is a struct with the name of the field.
func (w *writer) typeOf(s schema, field string) (string, error) {
	switch {
	case len(s.AllOf) == 1:
		return w.typeOf(s.AllOf[0], field)
	case len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null":
		kind, err := w.typeOf(s.AnyOf[0], field)
		return "*" + kind, err
	case s.Ref != "":
		return w.named(strings.TrimPrefix(s.Ref, "#/components/schemas/"), field)
	}
	kind, nullable := s.Type, ""
	if either, ok := s.Type.([]any); ok && len(either) == 2 && either[1] == "null" {
		kind, nullable = either[0], "*"
	}
	switch {
	case kind == "string" && s.Format == "date-time":
		return nullable + "time.Time", nil
	case kind == "string", kind == nil && len(s.Enum) > 0:
		return nullable + "string", nil
	case kind == "integer":
		return nullable + "int64", nil
	case kind == "boolean":
		return nullable + "bool", nil
	case kind == "object" && len(s.Properties) > 0:
		return nullable + field, nil
	case kind == "array" && s.Items != nil:
		item, err := w.typeOf(*s.Items, field)
		return "[]" + item, err
	}
	return "", fmt.Errorf("a field of type %v has no type in Go", s.Type)
}

// named returns the type of a schema that has a name.
func (w *writer) named(name, field string) (string, error) {
	if own := written[name]; own != "" {
		return own, nil
	}
	if i := slices.IndexFunc(records, func(r record) bool { return r.schema == name }); i >= 0 {
		return records[i].name, nil
	}
	s, ok := w.schemas[name]
	if !ok || s.Type == "object" {
		return "", fmt.Errorf("the client has no struct for the schema %s", name)
	}
	return w.typeOf(s, field)
}

// fieldName returns the name of a field in Go. Amounts are in minor units, and their names do not repeat it.
func fieldName(key string) string {
	if name := names[key]; name != "" {
		return name
	}
	var name strings.Builder
	for word := range strings.SplitSeq(strings.TrimSuffix(key, "_minor"), "_") {
		switch word {
		case "id", "url":
			name.WriteString(strings.ToUpper(word))
		case "ids":
			name.WriteString("IDs")
		default:
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return name.String()
}
