package attachments

import (
	"errors"

	"github.com/google/uuid"

	"stoa/ent/attachment"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// maxFileName in characters.
const maxFileName = 255

// UploadInput is the form of an upload (§4.8). A nil field was not sent.
type UploadInput struct {
	File     *Draft
	FileName *string
	Purpose  *string
	UploadID *string
}

// form is a checked UploadInput. The same bytes, name and purpose under the same upload_id are the same upload.
type form struct {
	uploadID uuid.UUID
	purpose  Purpose
	fileName string
	size     int64
	sum      []byte
	// reserve is what is taken from the budgets until the inspection knows better.
	reserve int64
}

var errPart = errors.New("must be sent exactly once")

// Check returns invalid_fields naming every part that is wrong.
func (in UploadInput) Check() (form, error) {
	wrong := fault.Fields{}
	var (
		f   form
		err error
	)
	if in.File == nil || in.FileName == nil {
		wrong.Add("file", errPart)
	} else {
		f.size, f.sum, f.reserve = in.File.size, in.File.hash.Sum(nil), in.File.reserve()
		f.fileName, err = text.Line(*in.FileName, 1, maxFileName)
		wrong.Add("file", named("its name", err))
	}
	if in.Purpose == nil {
		wrong.Add("purpose", errPart)
	} else {
		f.purpose = Purpose(*in.Purpose)
		if attachment.PurposeValidator(f.purpose) != nil {
			wrong.Add("purpose", errPurpose)
		}
	}
	if in.UploadID == nil {
		wrong.Add("upload_id", errPart)
	} else {
		f.uploadID, err = text.UUID(*in.UploadID)
		wrong.Add("upload_id", err)
	}
	return f, wrong.Fault(fault.InvalidFields)
}

func named(what string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(what + " " + err.Error())
}
