package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"time"
)

// Upload sends a file (§4.8). id is a new UUID (UploadUnused makes one). A repeat with the same id, bytes, name and purpose returns the same file in its present state;
// replayed reports whether it was uploaded before.
func (c *Client) Upload(ctx context.Context, purpose, name, id string, file []byte) (made Attachment, replayed bool, err error) {
	made, answer, err := c.upload(ctx, purpose, name, id, file)
	return made, err == nil && answer.Replayed(), err
}

// UploadUnused sends a file under the first derived id (UploadID) whose upload is not in use. A repeat returns the same upload
// until it is used, then a new one.
func (c *Client) UploadUnused(ctx context.Context, purpose, name string, file []byte) (made Attachment, replayed bool, err error) {
	for number := 0; ; number++ {
		made, answer, err := c.upload(ctx, purpose, name, UploadID(purpose, name, file, number), file)
		if err != nil {
			return made, false, err
		}
		inUse := answer.Header.Get("Attachment-Bound") != "" || !made.Available
		if !answer.Replayed() || !inUse {
			return made, answer.Replayed(), nil
		}
	}
}

func (c *Client) upload(ctx context.Context, purpose, name, id string, file []byte) (Attachment, *Answer, error) {
	contentType, form := UploadForm(purpose, name, id, file)
	answer, err := c.sendUpload(ctx, request{
		method: http.MethodPost, path: Prefix + "/attachments", contentType: contentType, body: form,
	})
	if err != nil {
		return Attachment{}, nil, err
	}
	made, err := recordOf[Attachment](answer, "attachment")
	return made, answer, err
}

// formEscapes are how a form writes a file name, as browsers do (WHATWG HTML, multipart form data).
var formEscapes = strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")

// UploadForm returns the body of an upload and its media type.
func UploadForm(purpose, name, id string, file []byte) (contentType string, form []byte) {
	var body bytes.Buffer // writes to it cannot fail
	writer := multipart.NewWriter(&body)
	_ = writer.WriteField("purpose", purpose)
	_ = writer.WriteField("upload_id", id)
	part, _ := writer.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="` + formEscapes.Replace(name) + `"`},
		"Content-Type":        {"application/octet-stream"},
	})
	_, _ = part.Write(file)
	_ = writer.Close()
	return writer.FormDataContentType(), body.Bytes()
}

// UploadID derives the upload_id of a file from its purpose, name and bytes. number counts the uploads of one file, from 0: an upload
// that is in use cannot be used elsewhere, but another one of the same file can.
func UploadID(purpose, name string, file []byte, number int) string {
	sum := sha256.Sum256(file)
	content := Fields{"purpose": purpose, "file_name": name, "sha256": hex.EncodeToString(sum[:])}
	if number > 0 {
		content["copy"] = number
	}
	id, _ := DeriveID(http.MethodPost, Prefix+"/attachments", content) // its values can be encoded
	return id
}

// sendUpload sends the form. While the server inspects too many files, or the file of an earlier request with the same id, it
// waits for Retry-After and tries again, in all for Options.UploadWait.
func (c *Client) sendUpload(ctx context.Context, form request) (*Answer, error) {
	for end := time.Now().Add(c.options.UploadWait); ; {
		answer, err := c.repeat(ctx, true, form)
		fault, refused := errors.AsType[*Fault](err)
		busy := refused && (fault.Code == "upload_busy" || fault.Fields["upload_id"] == "unfinished")
		if !busy || time.Now().After(end) || sleep(ctx, max(fault.RetryAfter, time.Second)) != nil {
			return answer, err
		}
	}
}

// ErrDamaged means that the bytes of a file do not match the digest in its record.
var ErrDamaged = errors.New("the file is not the one that its record names")

// Download reads a file and its record. If the record names a digest the bytes are compared with it.
func (c *Client) Download(ctx context.Context, id string) (Attachment, []byte, error) {
	record, err := c.File(ctx, id)
	if err != nil {
		return record, nil, err
	}
	answer, err := c.repeat(ctx, true, request{
		method: http.MethodGet, path: Prefix + at("/attachments/", id, "/download"), expected: record.Size,
	})
	if err != nil {
		return record, nil, err
	}
	if sum := sha256.Sum256(answer.Body); record.SHA256 != nil && hex.EncodeToString(sum[:]) != *record.SHA256 {
		return record, nil, fmt.Errorf("%w: %s", ErrDamaged, id)
	}
	return record, answer.Body, nil
}

// partChunk is the number of bytes of a part that one request asks for, so that each request is short.
const partChunk = 4 << 20

// DownloadPart writes a part of an export to a file and compares its bytes with the digest of its record (ErrDamaged). Until the
// file is complete, its name ends in .part, and the next call resumes it. A complete file is not fetched again.
func (c *Client) DownloadPart(ctx context.Context, exportID string, part ExportPart, path string) error {
	if err := checkPart(path, part); err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDamaged) {
		return err
	}
	begun := path + ".part"
	err := c.fetchPart(ctx, exportID, part, begun)
	if err == nil {
		err = checkPart(begun, part)
	}
	switch {
	case err == nil:
		return os.Rename(begun, path)
	case errors.Is(err, ErrDamaged):
		return errors.Join(err, os.Remove(begun)) // the next call begins anew
	}
	return err
}

func (c *Client) fetchPart(ctx context.Context, exportID string, part ExportPart, path string) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Sync(), file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	target := at("/exports/", exportID, "/parts/"+strconv.Itoa(part.Number))
	for have := info.Size(); have < part.Size; {
		chunk := fmt.Sprintf("bytes=%d-%d", have, min(have+partChunk, part.Size)-1)
		answer, err := c.repeat(ctx, true, request{method: http.MethodGet, path: Prefix + target, part: chunk, expected: partChunk})
		if err != nil {
			return err
		}
		if answer.Status != http.StatusPartialContent || len(answer.Body) == 0 {
			return fmt.Errorf("GET %s: the server did not answer with the bytes that were asked for", target)
		}
		if _, err := file.Write(answer.Body); err != nil {
			return err
		}
		have += int64(len(answer.Body))
	}
	return nil
}

func checkPart(path string, part ExportPart) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != part.SHA256 {
		return fmt.Errorf("%w: %s", ErrDamaged, path)
	}
	return nil
}
