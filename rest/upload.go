package rest

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"time"

	"stoa/graph/attachments"
	"stoa/graph/fault"
	"stoa/graph/tracing"
)

const (
	// maxForm is the size of an upload with its form (§8).
	maxForm = 21 << 20
	// maxValue is the size of a part that is not the file.
	maxValue = 256
	// stallTimeout is how long an upload may send nothing, formTimeout how long it may take altogether.
	stallTimeout = 30 * time.Second
	formTimeout  = 10 * time.Minute
	// answerTimeout is what is left for the inspection and the answer once the form has been read.
	answerTimeout = time.Minute
	// A refused upload is read on for a while, because many clients look at the answer only when they have sent everything.
	lingerSize    = 64 << 20
	lingerTimeout = 10 * time.Second
)

// form is the body of an upload while it arrives: of bounded size, and alive for as long as bytes flow.
type form struct {
	io.ReadCloser
	control *http.ResponseController
	end     time.Time
	size    int64
	// failed is why the body could not be read to its end.
	failed error
}

// receiveForm checks what can be known of an upload before it is read.
func receiveForm(w http.ResponseWriter, r *http.Request) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" || r.Header.Get("Content-Encoding") != "" {
		return fault.New(fault.UnsupportedMediaType).Say("Send Content-Type: multipart/form-data without Content-Encoding.")
	}
	if r.ContentLength > maxForm {
		return fault.New(fault.PayloadTooLarge)
	}
	r.Body = &form{ReadCloser: r.Body, control: http.NewResponseController(w), end: time.Now().Add(formTimeout)}
	return nil
}

// Read renews the connection's deadlines as long as there is time.
func (f *form) Read(p []byte) (int, error) {
	if f.failed != nil {
		return 0, f.failed
	}
	now := time.Now()
	_ = f.control.SetReadDeadline(earlier(now.Add(stallTimeout), f.end)) // a writer without deadlines is a test's
	_ = f.control.SetWriteDeadline(now.Add(stallTimeout + answerTimeout))
	n, err := f.ReadCloser.Read(p)
	f.size += int64(n)
	switch {
	case f.size > maxForm:
		f.failed = fault.New(fault.PayloadTooLarge)
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.failed = fault.New(fault.RequestTimeout)
	default:
		f.failed = fault.Wrap(fault.RequestTimeout, err)
	}
	return 0, f.failed
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// linger reads what a refused upload is still sending. A client that asked first has not sent anything, and one that was too slow
// is not waited for again.
func linger(w http.ResponseWriter, r *http.Request) {
	f, began := r.Body.(*form)
	if r.Header.Get("Expect") != "" || (began && errors.Is(f.failed, fault.New(fault.RequestTimeout))) {
		return
	}
	body := r.Body
	if began {
		body = f.ReadCloser
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingerTimeout)) // a writer without deadlines is a test's
	_, _ = io.CopyN(io.Discard, body, lingerSize)                                    // as far as it comes
}

// upload streams a form of exactly three parts into the file store (§4.8).
func upload(files *attachments.API) operation {
	return operation{run: func(ctx context.Context, r *http.Request, _ []byte) (any, error) {
		draft, err := files.NewDraft(ctx, r.ContentLength)
		if err != nil {
			return nil, err
		}
		defer draft.Discard()
		in, err := readParts(r, draft)
		if f, ok := r.Body.(*form); ok && err != nil && f.failed != nil {
			return nil, f.failed
		}
		if err != nil {
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
			return in, malformed(err)
		}
		if err := readPart(part, &in, draft); err != nil {
			return in, err
		}
	}
}

func readPart(part *multipart.Part, in *attachments.UploadInput, draft *attachments.Draft) error {
	values := map[string]**string{"purpose": &in.Purpose, "upload_id": &in.UploadID}
	name := part.FormName()
	switch value := values[name]; {
	case name == "file" && in.File == nil:
		fileName := part.FileName()
		in.File, in.FileName = draft, &fileName
		if _, err := io.Copy(draft, part); err != nil {
			return malformed(err)
		}
		return nil
	case value != nil && *value == nil:
		raw, err := io.ReadAll(io.LimitReader(part, maxValue+1))
		if err != nil {
			return malformed(err)
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
		return fault.New(fault.InvalidFields)
	}
}

// malformed is the fault of a form that ends or breaks off; a fault from further down stays what it is.
func malformed(err error) error {
	if known := new(fault.Error); errors.As(err, &known) {
		return known
	}
	return fault.Wrap(fault.InvalidFields, err).Say("The form cannot be read.")
}
