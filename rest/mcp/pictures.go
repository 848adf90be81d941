package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"net/http"
	"net/url"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxPicture is the size in bytes of a picture in a result, where it stands in base64 beside its record.
	maxPicture = 700 << 10
	// maxSide is the longest side in pixels of a picture that models take.
	maxSide = 4096
)

// pictureKinds are the words of the member picture.
var pictureKinds = object{"properties": object{"picture": object{"enum": []any{"original", "rendering"}}}}

// readFile reads the record of a file, and a picture of it: the file itself if models take it, or else its preview, or a page of a PDF.
func readFile(ctx context.Context, o *Options, raw json.RawMessage) (Answer, error) {
	var in struct {
		ID   string `json:"attachment_id"`
		Page int    `json:"page"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Answer{}, err
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
	if isPicture(record) && in.Page <= 1 {
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

// isPicture reports whether models take a file unchanged.
func isPicture(record object) bool {
	within := func(name string, most int64) bool {
		number, err := as[json.Number](record[name]).Int64()
		return err == nil && number <= most
	}
	media := record["media_type"]
	return (media == "image/jpeg" || media == "image/png") && within("size_bytes", maxPicture) && within("width", maxSide) &&
		within("height", maxSide)
}

// withPicture is the answer with a file's record and a picture of it that was read from the server.
func withPicture(record object, kind string, from Answer, picture []byte) Answer {
	return Answer{
		Status: http.StatusOK, Header: make(http.Header),
		Body:   encode(object{"attachment": record, "picture": kind}),
		Images: []*sdk.ImageContent{{Data: picture, MIMEType: from.Header.Get("Content-Type")}},
	}
}

// smaller is a preview, which is a JPEG, at a quality at which it fits into a result.
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
