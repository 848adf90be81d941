package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stoa/rest/client"
)

const (
	// maxUpload is the size in bytes of a file that comes in an argument.
	maxUpload = 1 << 20
	// maxFile is the size in bytes of a file that is read from a folder (§8).
	maxFile = 20 << 20
)

// fileTools are the tools for files: they make requests that are no JSON, and show pictures.
func (o *Options) fileTools() []Local {
	upload := Local{
		Name: "upload_file", Title: "Upload a file", Own: true, Call: o.upload, Request: "POST /api/v1/attachments",
		Description: "Upload a JPEG, PNG or PDF for a purpose: avatar and character for your profile, portfolio for posts, order for orders. " +
			"It has at most 1 MiB here. The same file for the same purpose is uploaded once.",
		Input: object{"type": "object", "additionalProperties": false, "required": []any{"purpose", "file_name", "base64"}, "properties": object{
			"purpose":   object{"type": "string", "enum": []any{"avatar", "character", "portfolio", "order"}},
			"file_name": object{"type": "string", "description": "Its name for others."},
			"base64":    object{"type": "string", "description": "Its bytes."},
			"upload_id": object{"type": "string", "description": "Derived unless sent: a new UUID uploads the same once more."},
		}},
		Output: attachmentOutput,
	}
	if o.Files != nil {
		upload.Description = strings.Replace(upload.Description, "It has at most 1 MiB here.",
			"Name it by its path in the folder that your user has allowed, or send up to 1 MiB in base64.", 1)
		upload.Input["required"] = []any{"purpose"}
		as[object](upload.Input["properties"])["path"] = object{"type": "string", "description": "Within the allowed folder."}
	}
	return []Local{upload, {
		Name: "read_file", Title: "Look at a file", ReadOnly: true, Call: o.readFile,
		Description: "Look at a file of a post, a profile or an order of yours: a picture, or the first page of a PDF.",
		Input: object{
			"type": "object", "additionalProperties": false, "required": []any{"attachment_id"},
			"properties": object{"attachment_id": object{"type": "string"}},
		},
		Output: attachmentOutput,
	}}
}

// attachmentOutput is the schema of a file's record, with the forms of its members.
var attachmentOutput = object{"type": "object", "required": []any{"attachment"}, "properties": object{
	"replayed": object{"const": true},
	"attachment": object{"type": "object", "properties": object{
		"id": object{"type": "string", "format": "uuid"}, "file_name": object{"type": "string"},
		"media_type": object{"type": "string", "enum": []any{"image/jpeg", "image/png", "application/pdf"}},
		"purpose":    object{"type": "string", "enum": []any{"avatar", "character", "portfolio", "order"}},
		"status":     object{"type": "string", "enum": []any{"ready", "rejected"}},
	}},
}}

// upload sends a file as a form.
func (o *Options) upload(ctx context.Context, raw json.RawMessage) (Answer, error) {
	var in struct {
		Purpose  string `json:"purpose"`
		FileName string `json:"file_name"`
		Base64   string `json:"base64"`
		Path     string `json:"path"`
		UploadID string `json:"upload_id"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Answer{}, err
	}
	var file []byte
	var err error
	switch {
	case in.Path != "" && in.Base64 != "":
		return Answer{}, errors.New("send either path or base64")
	case in.Path != "":
		if file, err = readWithin(o.Files, in.Path); err != nil {
			return Answer{}, err
		}
		if in.FileName == "" {
			in.FileName = path.Base(strings.ReplaceAll(in.Path, `\`, "/"))
		}
	default:
		if file, err = decodeFile(in.Base64); err != nil {
			return Answer{}, err
		}
	}
	if in.FileName == "" {
		return Answer{}, errors.New("file_name is missing")
	}
	if in.UploadID == "" {
		sum := sha256.Sum256(file)
		if in.UploadID, err = client.DeriveID(http.MethodPost, "/api/v1/attachments", object{
			"purpose": in.Purpose, "file_name": in.FileName, "sha256": hex.EncodeToString(sum[:]),
		}); err != nil {
			return Answer{}, err
		}
	}
	var form bytes.Buffer // writes to it cannot fail
	writer := multipart.NewWriter(&form)
	_ = writer.WriteField("purpose", in.Purpose)
	_ = writer.WriteField("upload_id", in.UploadID)
	part, _ := writer.CreateFormFile("file", in.FileName)
	_, _ = part.Write(file)
	_ = writer.Close()
	return o.API.Do(ctx, Request{
		Method: http.MethodPost, Target: "/api/v1/attachments", ContentType: writer.FormDataContentType(), Body: form.Bytes(),
	})
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

// readWithin reads a file of the folder that the user has allowed. No link and no .. leads out of it (os.Root).
func readWithin(folder *os.Root, name string) ([]byte, error) {
	if folder == nil {
		return nil, errors.New("path is not possible here: send base64")
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the file cannot be read: %w", err)
	}
	defer file.Close()
	about, err := file.Stat()
	if err == nil && !about.Mode().IsRegular() {
		return nil, errors.New("path is no regular file")
	}
	read, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the file cannot be read: %w", err)
	case len(read) > maxFile:
		return nil, fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	return read, nil
}

// readFile reads the record of a file, and its preview as an image.
func (o *Options) readFile(ctx context.Context, raw json.RawMessage) (Answer, error) {
	var in struct {
		ID string `json:"attachment_id"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Answer{}, err
	}
	target := "/api/v1/attachments/" + url.PathEscape(in.ID)
	answer, err := o.API.Do(ctx, Request{Method: http.MethodGet, Target: target})
	if err != nil || answer.Status != http.StatusOK {
		return answer, err
	}
	if as[object](as[object](decode(answer.Body))["attachment"])["available"] != true {
		return answer, nil
	}
	preview, err := o.API.Do(ctx, Request{Method: http.MethodGet, Target: target + "/preview"})
	if err != nil || preview.Status != http.StatusOK {
		return preview, err
	}
	picture, err := smaller(preview.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("the preview cannot be read: %w", err)
	}
	answer.Images = []*sdk.ImageContent{{Data: picture, MIMEType: preview.Header.Get("Content-Type")}}
	return answer, nil
}

// maxPicture is the size in bytes of a picture in a result, where it stands in base64 beside its record.
const maxPicture = 700 << 10

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
