package agentcli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"stoa/rest/client"
)

var fileRows = []row{
	{"upload", "Upload a file.", []param{
		arg("file", "", "JPEG, PNG or PDF, at most 20 MiB.").with(`type:"existingfile"`),
		choice(flag("purpose", "", "avatar, character, portfolio or order; it never changes."), "avatar,character,portfolio,order", "order"),
	}, func(c *call) error {
		made, replayed, err := c.upload(c.text("purpose"), c.text("file"))
		return files.replay(c, made, replayed, err)
	}, needsToken},
	{"download", "Download a file of an order or a post.", []param{
		arg("id", "", "Id of the file, as order, find, feed and draft list it."),
		flag("out", "", "Where to write it; empty: its id and kind, in this folder. A file that exists is not replaced.").with(`placeholder:"FILE"`),
	}, download, needsToken},
}

var files = view[client.Attachment]{fields: func(_ *call, f client.Attachment) []field {
	return []field{{"id", f.ID}, {"purpose", f.Purpose}, {"kind", f.MediaType}}
}}

// upload sends a file under the first derived id whose upload is not in use.
func (c *call) upload(purpose, path string) (client.Attachment, bool, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return client.Attachment{}, false, err
	}
	return c.client.UploadUnused(c.ctx, purpose, filepath.Base(path), content)
}

// fileID is the id of an upload: the given one, or that of the file at this path, which is uploaded.
func (c *call) fileID(purpose, idOrPath string) (string, error) {
	if uuid.Validate(idOrPath) == nil {
		return idOrPath, nil
	}
	made, _, err := c.upload(purpose, idOrPath)
	return made.ID, err
}

// changeWith makes a change of an order with the files of --file, named by id or path. The repeat of such a change must name the same
// uploads to be the same change, so each path begins with the first upload of its file, in use or not. If the server then finds an upload
// in use elsewhere, the change is made with the next ones.
func (c *call) changeWith(body client.Fields, name string, change func() error) error {
	files := c.list("file")
	if len(files) == 0 {
		return change()
	}
	for numbers := make([]int, len(files)); ; {
		ids, again := make([]string, len(files)), false
		for i, file := range files {
			made, replayed, err := c.numbered(file, &numbers[i])
			if err != nil {
				return err
			}
			if ids[i] = made; replayed {
				again = true
				numbers[i]++
			}
		}
		body[name] = ids
		if err := change(); !again || !client.HasCode(err, "attachment_already_bound") {
			return err
		}
	}
}

// numbered returns the id of an upload for an order: the given one, or that of the file's upload with this number, or the next one
// whose bytes are not gone. replayed reports that the file had been uploaded before.
func (c *call) numbered(idOrPath string, number *int) (id string, replayed bool, err error) {
	if uuid.Validate(idOrPath) == nil {
		return idOrPath, false, nil
	}
	content, err := os.ReadFile(idOrPath)
	if err != nil {
		return "", false, err
	}
	for name := filepath.Base(idOrPath); ; *number++ {
		made, replayed, err := c.client.Upload(c.ctx, "order", name, client.UploadID("order", name, content, *number), content)
		if err != nil || made.Available {
			return made.ID, replayed, err
		}
	}
}

// filesText lists files, a line each.
func filesText(files []client.Attachment) string {
	lines := make([]string, len(files))
	for i, file := range files {
		lines[i] = fmt.Sprintf("%s  %s, %d bytes", file.ID, file.MediaType, file.Size)
		if file.Name != nil {
			lines[i] += " " + theirs(*file.Name)
		}
		if file.SHA256 != nil && file.Purpose != "order" { // the owner alone gets the sum of such a file (§2.7)
			lines[i] += " (yours: others get a cleaned copy, whose size and sum differ)"
		}
	}
	return strings.Join(lines, "\n")
}

// endings are the file name endings of the kinds of files that the server takes.
var endings = map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "application/pdf": ".pdf"}

// download writes the file under a name of its own choice, since the one in the record is another agent's.
func download(c *call) error {
	record, content, err := c.client.Download(c.ctx, c.text("id"))
	if err != nil {
		return err
	}
	path := cmp.Or(c.text("out"), record.ID+endings[record.MediaType])
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: name another file with --out", path)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return c.showWith(record, client.Fields{"file": path}, field{"file", path}, field{"kind", record.MediaType},
		field{"bytes", strconv.Itoa(len(content))})
}
