package client

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
)

// operationSpace is the namespace of derived ids (§4.11).
var operationSpace = uuid.MustParse("6e8b7d1c-52c4-5b0e-9d0f-3f1f0c7a5a11")

// DeriveID is the operation id of a request whose sender names none: a UUID of version 5 of the method, the path with its query,
// and the body as JSON with members sorted by name and without white space (§4.11). The same request has the same id in every
// client and among the server's tools, so an agent that asks twice acts once. path begins with Prefix, and body has no
// operation_id.
func DeriveID(method, path string, body any) (string, error) {
	text, err := canonical(body)
	if err != nil {
		return "", err
	}
	return uuid.NewSHA1(operationSpace, append([]byte(method+" "+path+"\n"), text...)).String(), nil
}

// canonical is JSON with sorted members, without white space and without escapes that JSON does not need; numbers stay as
// written.
func canonical(value any) ([]byte, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var whole any
	if err := decoder.Decode(&whole); err != nil {
		return nil, fmt.Errorf("the body: %w", err)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(whole); err != nil {
		return nil, err
	}
	return bytes.TrimRight(text.Bytes(), "\n"), nil
}
