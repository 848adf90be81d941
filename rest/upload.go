package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"stoa/graph/attachments"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/tracing"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
)

const (
	// maxForm is the size in bytes of an upload with its form (§8).
	maxForm = bounds.Form
	// maxValue is the size in bytes of a part other than the file.
	maxValue = 256
)

// form is the body of an upload, bounded to maxForm bytes. Package httpserver bounds the time in which it arrives.
type form struct {
	io.ReadCloser

	size int64
	// closing is the line that ends the form. last is the part of the current line that is compared with it.
	closing string
	last    []byte
	// failed is the error that ended the reading of the body.
	failed error
}

// checkForm checks an upload's headers before it is read, and bounds its body. Faults: unsupported_media_type, payload_too_large.
func checkForm(r *http.Request) error {
	media, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != web.FormType || r.Header.Get("Content-Encoding") != "" {
		return fault.New(fault.UnsupportedMediaType).Say("Send Content-Type: multipart/form-data without Content-Encoding.")
	}
	if r.ContentLength > maxForm {
		return fault.New(fault.PayloadTooLarge)
	}
	r.Body = &form{ReadCloser: r.Body, closing: "--" + parameters["boundary"] + "--"}
	return nil
}

// Read implements io.Reader. Faults: payload_too_large, faults of web.BodyError, invalid_fields for a cut-off or malformed body.
func (f *form) Read(p []byte) (int, error) {
	if f.failed != nil {
		return 0, f.failed
	}
	n, err := f.ReadCloser.Read(p)
	f.size += int64(n)
	f.keepLast(p[:n])
	switch {
	case f.size > maxForm:
		f.failed = fault.New(fault.PayloadTooLarge)
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF) && string(f.last) == f.closing:
		return n, io.EOF // closing needs no line break
	case errors.Is(err, io.EOF):
		return n, io.ErrUnexpectedEOF // to package multipart, EOF would be the end of the form
	default:
		f.failed = web.BodyError(err)
		if cutOff := new(wire.Error); errors.As(f.failed, &cutOff) {
			f.failed = fault.Body(fault.InvalidFields, cutOff)
		}
	}
	return 0, f.failed
}

// keepLast updates last with the next bytes.
func (f *form) keepLast(p []byte) {
	line := p[bytes.LastIndexByte(p, '\n')+1:]
	if len(line) < len(p) {
		f.last = f.last[:0]
	}
	f.last = append(f.last, line[:min(len(line), len(f.closing)+1-len(f.last))]...)
}

// interrupt makes a Read fail that waits for the client, if the server supports it.
func (f *form) interrupt() {
	if body, ok := f.ReadCloser.(interface{ Interrupt() }); ok {
		body.Interrupt()
	}
}

// upload streams a form of exactly three parts into the file store (§4.8).
func upload(files *attachments.API) operation {
	return operation{run: func(ctx context.Context, r *http.Request, _ []byte) (any, error) {
		draft, err := files.NewDraft(ctx, r.ContentLength)
		if err != nil {
			return nil, err
		}
		defer draft.Discard()
		f, _ := r.Body.(*form)
		stop := draft.WhenTaken(f.interrupt)
		in, err := readParts(r, draft)
		stop()
		switch {
		case err != nil && draft.Taken() != nil:
			return nil, draft.Taken()
		case err != nil && f.failed != nil:
			return nil, f.failed
		case err != nil:
			return nil, err
		}
		ctx, end := tracing.Operation(ctx, "attachments.UploadAttachment")
		done, err := files.UploadAttachment(ctx, in)
		end(err)
		return done, err
	}}
}

func readParts(r *http.Request, draft *attachments.Draft) (attachments.UploadInput, error) {
	var in attachments.UploadInput
	parts, err := r.MultipartReader()
	if err != nil {
		return in, fault.New(fault.InvalidFields).Say("The form has no boundary.")
	}
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return in, nil
		}
		if err != nil {
			return in, formFault(err)
		}
		if err := readPart(part, &in, draft); err != nil {
			return in, err
		}
	}
}

func readPart(part *multipart.Part, in *attachments.UploadInput, draft *attachments.Draft) error {
	values := map[string]**string{"purpose": &in.Purpose, "upload_id": &in.UploadID}
	part.Header.Set(dispositionHeader, withEscapes(part.Header.Get(dispositionHeader)))
	name := part.FormName()
	switch value := values[name]; {
	case name == "file" && in.File == nil:
		fileName := formEscapes.Replace(part.FileName())
		in.File, in.FileName = draft, &fileName
		if _, err := io.Copy(draft, part); err != nil {
			return formFault(err)
		}
		return nil
	case value != nil && *value == nil:
		raw, err := io.ReadAll(io.LimitReader(part, maxValue+1))
		if err != nil {
			return formFault(err)
		}
		if len(raw) > maxValue {
			return fault.Field(fault.InvalidFields, name, "is too long")
		}
		text := string(raw)
		*value = &text
		return nil
	case name == "file" || value != nil:
		return fault.Field(fault.InvalidFields, name, "must be sent exactly once")
	default:
		return fault.New(fault.InvalidFields).Say("The form must have exactly one each of file, purpose and upload_id.")
	}
}

const dispositionHeader = "Content-Disposition"

// formEscapes decodes the only percent escapes that forms use in a file name (WHATWG HTML, multipart form data).
var formEscapes = strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n")

// withEscapes doubles every backslash of a header that is a plain character, as from browsers. A backslash is an escape, as from
// programs that follow MIME, if it precedes another backslash or a quote other than the last.
func withEscapes(header string) string {
	var out strings.Builder
	for i := 0; i < len(header); i++ {
		out.WriteByte(header[i])
		if header[i] != '\\' {
			continue
		}
		rest := header[i+1:]
		if strings.HasPrefix(rest, `\`) || strings.HasPrefix(rest, `"`) && strings.Contains(rest[1:], `"`) {
			out.WriteByte(rest[0])
			i++
		} else {
			out.WriteByte('\\')
		}
	}
	return out.String()
}

// formFault returns the fault of a form that is malformed or ends early; it keeps a fault of the body or of the file store.
func formFault(err error) error {
	if known := new(fault.Error); errors.As(err, &known) {
		return known
	}
	return fault.Wrap(fault.InvalidFields, err).Say("The form cannot be read.")
}
