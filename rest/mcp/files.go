package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"stoa/graph/platform/web"
	"stoa/rest/client"
)

// maxUpload is the size in bytes of a file that comes in an argument.
const maxUpload = 1 << 20

// upload sends a file. Unless the call names one, upload_id is derived from the file and counted up past uploads that are in use, so that
// a repeat returns the same file until it is used, and then a new one.
func upload(ctx context.Context, o *Options, raw json.RawMessage) (Answer, error) {
	var in struct {
		Purpose  string `json:"purpose"`
		FileName string `json:"file_name"`
		Base64   string `json:"base64"`
		UploadID string `json:"upload_id"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Answer{}, err
	}
	file, err := decodeFile(in.Base64)
	if err != nil {
		return Answer{}, err
	}
	if in.FileName == "" {
		return Answer{}, errors.New("file_name is missing")
	}
	if in.UploadID != "" {
		return o.sendFile(ctx, in.UploadID, in.Purpose, in.FileName, file)
	}
	for number := 0; ; number++ {
		id := client.UploadID(in.Purpose, in.FileName, file, number)
		answer, err := o.sendFile(ctx, id, in.Purpose, in.FileName, file)
		if err != nil || !isSpent(answer) {
			return answer, err
		}
	}
}

// isSpent reports whether an answer is the file of an earlier upload that cannot be used any more: it is in use, or its bytes are gone.
func isSpent(answer Answer) bool {
	if answer.Header.Get(web.ReplayedHeader) == "" {
		return false
	}
	file := as[object](as[object](decode(answer.Body))["attachment"])
	return answer.Header.Get(web.BoundHeader) != "" || file["available"] == false
}

// sendFile sends a file as a form.
func (o *Options) sendFile(ctx context.Context, id, purpose, name string, file []byte) (Answer, error) {
	contentType, form := client.UploadForm(purpose, name, id, file)
	return o.API.Do(ctx, Request{Method: http.MethodPost, Target: "/api/v1/attachments", ContentType: contentType, Body: form})
}

// decodeFile is the file of an argument. Some programs send white space in base64, or the beginning of a data URL.
func decodeFile(text string) ([]byte, error) {
	if strings.HasPrefix(text, "data:") {
		_, text, _ = strings.Cut(text, ",")
	}
	file, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	switch {
	case err != nil:
		return nil, errors.New("base64 is not valid: " + err.Error())
	case len(file) == 0:
		return nil, errors.New("base64 is missing")
	case len(file) > maxUpload:
		return nil, fmt.Errorf("the file has more than %d bytes", maxUpload)
	}
	return file, nil
}
