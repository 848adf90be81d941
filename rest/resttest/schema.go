package resttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// address names the document among the compiler's resources.
const address = "stoa:openapi.json"

// schema is a compiled schema of the description.
type schema struct {
	*jsonschema.Schema

	at string
}

// compiler compiles schemas where they stand in the document; their dialect is that of OpenAPI 3.1, JSON Schema 2020-12.
type compiler struct {
	*jsonschema.Compiler
}

func newCompiler(document map[string]any) (*compiler, error) {
	c := &compiler{jsonschema.NewCompiler()}
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	return c, c.AddResource(address, document)
}

func (c *compiler) compile(at string) (*schema, error) {
	compiled, err := c.Compile(address + "#" + at)
	if err != nil {
		return nil, err
	}
	return &schema{compiled, at}, nil
}

// checkJSON returns the parts of a JSON text that the schema does not allow, with pointers to them.
func (s *schema) checkJSON(raw []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return s.check(value)
}

// checkText does the same for the text of a header or a parameter, which is a number or a boolean if the schema wants one.
func (s *schema) checkText(text string) error {
	var value any = text
	switch {
	case s.wants("integer") && json.Valid([]byte(text)):
		value = json.Number(text)
	case s.wants("boolean") && (text == "true" || text == "false"):
		value = text == "true"
	}
	return s.check(value)
}

func (s *schema) wants(kind string) bool {
	return s.Types != nil && strings.Contains(s.Types.String(), kind)
}

func (s *schema) check(value any) error {
	err := s.Validate(value)
	if err == nil {
		return nil
	}
	_, said, _ := strings.Cut(err.Error(), "\n") // the first line only names the schema
	return fmt.Errorf("%s (%s)", strings.Join(strings.Fields(said), " "), s.at)
}
