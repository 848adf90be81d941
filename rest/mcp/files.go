package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stoa/graph/platform/web"
	"stoa/rest/client"
	"stoa/rest/openapi"
)

// maxUpload is the largest file in an argument, in bytes.
const maxUpload = 1 << 20

// upload sends a file. If the call has no upload_id, it is derived from the file and counted up past uploads that are in use. So
// a repeat returns the same file until it is used, then a new one.
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

// isSpent reports whether an answer is an earlier upload that cannot be used any more: it is in use, or its bytes are gone.
func isSpent(answer Answer) bool {
	if answer.Header.Get(web.ReplayedHeader) == "" {
		return false
	}
	file := as[object](as[object](decode(answer.Body))["attachment"])
	return answer.Header.Get(web.BoundHeader) != "" || file["available"] == false
}

func (o *Options) sendFile(ctx context.Context, id, purpose, name string, file []byte) (Answer, error) {
	contentType, form := client.UploadForm(purpose, name, id, file)
	return o.API.Do(ctx, Request{Method: http.MethodPost, Target: "/api/v1/attachments", ContentType: contentType, Body: form})
}

// decodeFile decodes the file of an argument. Some programs send white space in base64, or the prefix of a data URL.
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

const (
	// maxPicture is the largest picture in a result, in bytes; the result has it in base64 beside its record.
	maxPicture = 700 << 10
	// maxSide is the longest side, in pixels, of a picture that models accept.
	maxSide = 4096
)

// pictureKinds are the values of the member picture.
var pictureKinds = &openapi.Schema{Properties: members{"picture": {Enum: []any{"original", "rendering"}}}}

// readFile reads the record of a file, and a picture of it: the file itself if models accept it, otherwise its preview or a page
// of a PDF.
func readFile(ctx context.Context, o *Options, raw json.RawMessage) (Answer, error) {
	var in struct {
		ID   string `json:"attachment_id"`
		Page int    `json:"page"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Answer{}, err
	}
	if in.ID == "" {
		return Answer{}, errors.New("attachment_id is missing")
	}
	target := "/api/v1/attachments/" + url.PathEscape(in.ID)
	answer, err := o.API.Do(ctx, Request{Method: http.MethodGet, Target: target})
	if err != nil || answer.Status != http.StatusOK {
		return answer, err
	}
	record := as[object](as[object](decode(answer.Body))["attachment"])
	if record["available"] != true {
		return answer, nil
	}
	if isPicture(record) && (in.Page == 0 || in.Page == 1) {
		file, err := o.API.Do(ctx, Request{Method: http.MethodGet, Target: target + "/download"})
		if err != nil || file.Status != http.StatusOK {
			return file, err
		}
		return withPicture(record, "original", file, file.Body), nil
	}
	target += "/preview"
	if in.Page != 0 {
		target += "?page=" + strconv.Itoa(in.Page)
	}
	preview, err := o.API.Do(ctx, Request{Method: http.MethodGet, Target: target})
	if err != nil || preview.Status != http.StatusOK {
		return preview, err
	}
	picture, err := smaller(preview.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("the preview cannot be read: %w", err)
	}
	return withPicture(record, "rendering", preview, picture), nil
}

// isPicture reports whether models accept a file unchanged.
func isPicture(record object) bool {
	within := func(name string, most int64) bool {
		number, err := as[json.Number](record[name]).Int64()
		return err == nil && number <= most
	}
	media := record["media_type"]
	return (media == "image/jpeg" || media == "image/png") && within("size_bytes", maxPicture) && within("width", maxSide) &&
		within("height", maxSide)
}

// withPicture returns the answer with a file's record and the picture that was read from the server.
func withPicture(record object, kind string, from Answer, picture []byte) Answer {
	return Answer{
		Status: http.StatusOK, Header: make(http.Header),
		Body:   encode(object{"attachment": record, "picture": kind}),
		Images: []*sdk.ImageContent{{Data: picture, MIMEType: from.Header.Get("Content-Type")}},
	}
}

// smaller returns a preview, a JPEG, at a quality at which it fits into a result.
func smaller(preview []byte) ([]byte, error) {
	for quality := 75; len(preview) > maxPicture && quality > 0; quality -= 25 {
		picture, err := jpeg.Decode(bytes.NewReader(preview))
		if err != nil {
			return nil, err
		}
		var fits bytes.Buffer
		if err := jpeg.Encode(&fits, picture, &jpeg.Options{Quality: quality}); err != nil {
			return nil, err
		}
		preview = fits.Bytes()
	}
	return preview, nil
}
