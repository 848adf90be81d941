package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// body is a GraphQL request. Extensions are read past.
type body struct {
	Query         string                `json:"query"`
	OperationName wire.Nullable[string] `json:"operationName"`
	Variables     wire.Raw              `json:"variables"`
	Extensions    wire.Raw              `json:"extensions"`
}

// readRequest reads a request strictly. Faults: unsupported_media_type, payload_too_large, request_timeout, invalid_input.
func readRequest(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, error) {
	raw, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	var sent body
	err = wire.Unmarshal(raw, &sent)
	if refused := new(wire.Error); errors.As(err, &refused) {
		return nil, fault.Body(fault.InvalidInput, refused)
	}
	if err != nil {
		return nil, err
	}
	if sent.Query == "" {
		return nil, fault.Field(fault.InvalidInput, "query", "is required")
	}
	variables, err := readVariables(sent.Variables)
	if err != nil {
		return nil, err
	}
	return &graphql.RawParams{Query: sent.Query, OperationName: sent.OperationName.Value, Variables: variables, Headers: r.Header}, nil
}

// readVariables keeps numbers as they were spelled, so that no digit of a 64-bit integer is lost.
func readVariables(raw wire.Raw) (map[string]any, error) {
	variables := make(map[string]any)
	if len(raw) == 0 || raw.Kind() == 'n' {
		return variables, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&variables); err != nil {
		return nil, fault.Field(fault.InvalidInput, "variables", "must be an object")
	}
	if values(variables) > maxValues {
		return nil, fault.Field(fault.InvalidInput, "variables", "must hold at most "+strconv.Itoa(maxValues)+" values")
	}
	return variables, nil
}

// values counts a value with everything in it.
func values(v any) int {
	sum := 1
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			sum += values(inner)
		}
	case []any:
		for _, inner := range v {
			sum += values(inner)
		}
	}
	return sum
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if !isJSON(r.Header) {
		return nil, fault.New(fault.UnsupportedMediaType)
	}
	if r.ContentLength > maxBody {
		return nil, fault.New(fault.PayloadTooLarge)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, unreadable(err)
	}
	return raw, nil
}

// unreadable is the fault of a body that did not arrive whole. How fast it must arrive is for the HTTP server, whose body fails with a
// fault of its own.
func unreadable(err error) error {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return fault.New(fault.PayloadTooLarge)
	}
	if known := new(fault.Error); errors.As(err, &known) {
		return known
	}
	return fault.Wrap(fault.InvalidInput, err)
}

func isJSON(header http.Header) bool {
	if header.Get("Content-Encoding") != "" {
		return false
	}
	media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset, named := params["charset"]
	return err == nil && media == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}
