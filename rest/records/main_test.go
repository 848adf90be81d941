package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"stoa/rest/openapi"
)

// The Go client's records and operations match the description: make generate writes them.
func TestTheClientMatchesTheDescription(t *testing.T) {
	t.Parallel()
	made := generate(must(os.ReadFile("../openapi.json")))
	require.Len(t, made, 2)
	for name, content := range made {
		require.Equal(t, string(content), string(must(os.ReadFile("../../"+name))))
	}
}

// The description as JSON matches the YAML: make generate writes it.
func TestTheDescriptionAsJSON(t *testing.T) {
	t.Parallel()
	made := convert(must(os.ReadFile("../openapi.yaml")))
	require.True(t, bytes.Equal(made, must(os.ReadFile("../openapi.json"))), "make generate makes another one")
}

func TestFieldNames(t *testing.T) {
	t.Parallel()
	for key, name := range map[string]string{
		"id": "ID", "task_id": "TaskID", "preview_url": "PreviewURL", "total_minor": "Total", "minor_per_credit": "MinorPerCredit",
		"encryption_public_key": "Key", "is_demo": "IsDemo",
	} {
		assert.Equal(t, name, fieldName(key))
	}
}

func TestTypesOfFields(t *testing.T) {
	t.Parallel()
	w := writer{description: new(openapi.Description)}
	w.description.Components.Schemas = map[string]*openapi.Schema{
		"Time": {Type: "string", Format: "date-time"}, "Sort": {Enum: []any{"a"}}, "Post": {Type: "object"}, "Unknown": {Type: "object"},
	}
	ref := func(name string) *openapi.Schema { return &openapi.Schema{Ref: "#/components/schemas/" + name} }
	null := &openapi.Schema{Type: "null"}
	for kind, s := range map[string]*openapi.Schema{
		"string":     ref("Sort"),
		"time.Time":  ref("Time"),
		"*time.Time": {AnyOf: []*openapi.Schema{ref("Time"), null}},
		"*int64":     {Type: "integer", Nullable: true},
		"*float64":   {Type: "number", Nullable: true},
		"bool":       {AllOf: []*openapi.Schema{{Type: "boolean"}}},
		"*Post":      {AnyOf: []*openapi.Schema{ref("Post"), null}},
		"[]Action":   {Type: "array", Items: ref("Action")},
	} {
		assert.Equal(t, kind, w.typeOf(s, "Field"))
	}
	for _, s := range []*openapi.Schema{ref("Unknown"), ref("Missing"), {Type: "object"}, {AnyOf: []*openapi.Schema{ref("Time")}}} {
		assert.Panics(t, func() { w.typeOf(s, "Field") })
	}
}
