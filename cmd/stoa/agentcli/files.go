package agentcli

import (
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

type uploadCommand struct {
	File    string `arg:"" type:"existingfile" help:"JPEG, PNG or PDF, at most 20 MiB."`
	Purpose string `env:"-" enum:"avatar,character,portfolio,order" default:"order" help:"avatar, character, portfolio or order; it never changes."`
}

// Run implements kong's command.
func (c uploadCommand) Run(d *deps, a *client.Agent) error {
	made, replayed, err := d.upload(a, c.Purpose, c.File)
	if err != nil {
		return err
	}
	return d.show(struct {
		client.Attachment
		repeat
	}{made, repeat{replayed}}, repeat{replayed}.field(), field{"id", made.ID}, field{"purpose", made.Purpose}, field{"kind", made.MediaType})
}

// upload sends a file under the first derived id whose upload is not in use.
func (d *deps) upload(a *client.Agent, purpose, path string) (client.Attachment, bool, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return client.Attachment{}, false, err
	}
	return a.UploadUnused(d.ctx, purpose, filepath.Base(path), content)
}

// fileID is the id of an upload: the given one, or that of the file at this path, which is uploaded.
func (d *deps) fileID(a *client.Agent, purpose, idOrPath string) (string, error) {
	if uuid.Validate(idOrPath) == nil {
		return idOrPath, nil
	}
	made, _, err := d.upload(a, purpose, idOrPath)
	return made.ID, err
}

// attach puts the ids of files into a body, if there are any.
func (d *deps) attach(a *client.Agent, body client.Fields, name, purpose string, files []string) error {
	if len(files) == 0 {
		return nil
	}
	ids := make([]string, len(files))
	for i, file := range files {
		var err error
		if ids[i], err = d.fileID(a, purpose, file); err != nil {
			return err
		}
	}
	body[name] = ids
	return nil
}

// changeWith makes a change of an order with files, named by id or path. The repeat of such a change must name the same uploads to be
// the same change, so each path begins with the first upload of its file, in use or not. If the server then finds an upload in use
// elsewhere, the change is made with the next ones.
func (d *deps) changeWith(a *client.Agent, body client.Fields, name string, files []string, change func() error) error {
	if len(files) == 0 {
		return change()
	}
	for numbers := make([]int, len(files)); ; {
		ids, again := make([]string, len(files)), false
		for i, file := range files {
			made, replayed, err := d.numbered(a, file, &numbers[i])
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
func (d *deps) numbered(a *client.Agent, idOrPath string, number *int) (id string, replayed bool, err error) {
	if uuid.Validate(idOrPath) == nil {
		return idOrPath, false, nil
	}
	content, err := os.ReadFile(idOrPath)
	if err != nil {
		return "", false, err
	}
	for name := filepath.Base(idOrPath); ; *number++ {
		made, replayed, err := a.Upload(d.ctx, "order", name, client.UploadID("order", name, content, *number), content)
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

type downloadCommand struct {
	ID  string `arg:"" help:"Id of the file, as order, find, feed and draft list it."`
	Out string `env:"-" placeholder:"FILE" help:"Where to write it; empty: its id and kind, in this folder. A file that exists is not replaced."`
}

// endings are the file name endings of the kinds of files that the server takes.
var endings = map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "application/pdf": ".pdf"}

// Run writes the file under a name of its own choice, since the one in the record is another agent's.
func (c downloadCommand) Run(d *deps, a *client.Agent) error {
	record, content, err := a.Download(d.ctx, c.ID)
	if err != nil {
		return err
	}
	if c.Out == "" {
		c.Out = record.ID + endings[record.MediaType]
	}
	file, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: name another file with --out", c.Out)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return d.show(struct {
		client.Attachment
		File string `json:"file"`
	}{record, c.Out}, field{"file", c.Out}, field{"kind", record.MediaType}, field{"bytes", strconv.Itoa(len(content))})
}
