package agentcli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/rest/client"
	"stoa/rest/client/durable"
)

var files = view[client.Attachment]{fields: func(_ *call, f client.Attachment) []field {
	return []field{{"id", f.ID}, {"purpose", f.Purpose}, {"kind", f.MediaType}}
}}

func uploadFile(c *call) error {
	made, replayed, err := c.upload(c.text("purpose"), c.text("file"))
	return files.replay(c, made, replayed, err)
}

// upload sends a file under the first derived id whose upload is not in use.
func (c *call) upload(purpose, path string) (client.Attachment, bool, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return client.Attachment{}, false, err
	}
	return c.client.UploadUnused(c.ctx, purpose, filepath.Base(path), content)
}

// fileID returns the given upload id, or uploads the file at this path and returns its id.
func (c *call) fileID(purpose, idOrPath string) (string, error) {
	if uuid.Validate(idOrPath) == nil {
		return idOrPath, nil
	}
	made, _, err := c.upload(purpose, idOrPath)
	return made.ID, err
}

// changeWith makes a change of an order with the files of --file, named by id or path. A repeat must name the same uploads to be
// the same change, so it first tries the first upload of each file, in use or not. If the server answers that an upload is in use
// elsewhere, it tries the next uploads.
func (c *call) changeWith(body client.Fields, name string, change func() error) error {
	files := valueOf[[]string](c, "file")
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

// numbered returns the id of an upload for an order: the given id, or the id of the file's upload with this number, or of the
// next whose bytes are not gone. replayed reports whether the file was uploaded before.
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

func filesText(files []client.Attachment) string {
	lines := make([]string, len(files))
	for i, file := range files {
		lines[i] = fmt.Sprintf("%s  %s, %d bytes", file.ID, file.MediaType, file.Size)
		if file.Name != nil {
			lines[i] += " " + theirs(*file.Name)
		}
		if file.SHA256 != nil && file.Purpose != "order" { // only the owner gets the digest of such a file (§2.7)
			lines[i] += " (yours: others get a cleaned copy, whose size and sum differ)"
		}
	}
	return strings.Join(lines, "\n")
}

// endings are the file name extensions of the kinds of files that the server accepts.
var endings = map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "application/pdf": ".pdf"}

// download chooses the file name itself, since another agent wrote the name in the record.
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
		return errors.Join(err, os.Remove(path))
	}
	return c.showWith(record, client.Fields{"file": path}, field{"file", path}, field{"kind", record.MediaType},
		field{"bytes", strconv.Itoa(len(content))})
}

// asked is the request for an archive. It is stored in the folder before it is sent.
type asked struct {
	OperationID string `json:"operation_id"`
	Files       bool   `json:"include_files"`
}

// The pauses between two checks of an archive in progress.
const shortestLook, longestLook = 500 * time.Millisecond, 10 * time.Second

// export requests an archive, waits until it is ready, and downloads its parts. A repeat continues with the archive named in the
// folder.
func export(c *call) error {
	folder := c.text("out")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	made, replayed, err := c.askExport(filepath.Join(folder, "export.json"))
	if err != nil {
		return err
	}
	again := ""
	if replayed {
		again = fmt.Sprintf(", %.0f hours ago; another --out asks for a new one", max(0, time.Since(made.CreatedAt).Hours()))
	}
	for pause := shortestLook; made.State == "pending"; pause = min(2*pause, longestLook) {
		if err := c.pause(pause); err != nil {
			return err
		}
		if made, err = c.client.Export(c.ctx, made.ID); err != nil {
			return err
		}
	}
	if made.State != "ready" {
		return fmt.Errorf("the export is %s: the same command asks for a new one", made.State)
	}
	files := make([]string, len(made.Parts))
	for i, part := range made.Parts {
		files[i] = filepath.Join(folder, fmt.Sprintf("%s.%d.zip", filepath.Base(made.ID), part.Number))
		if err := c.client.DownloadPart(c.ctx, made.ID, part, files[i]); err != nil {
			return err
		}
	}
	truncated := ""
	if t := made.Truncated; t != nil && t.Before != nil {
		truncated = "the archive is full: " + t.Member + " goes on before " + *t.Before
	} else if t != nil {
		truncated = "the archive is full before the first record of " + t.Member
	}
	return c.showWith(made, client.Fields{"files": files}, field{"id", made.ID}, field{"made", utc(made.CreatedAt) + again},
		field{"files", strings.Join(files, "\n")}, field{"kept until", utc(made.ExpiresAt)}, field{"truncated", truncated})
}

// askExport returns the archive that a file names; replayed is then true. If the file names none, another kind, or one that has
// ended, it requests a new archive.
func (c *call) askExport(path string) (made client.Export, replayed bool, err error) {
	var last asked
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &last)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return made, false, err
	}
	files := c.has("files")
	if last.OperationID != "" && last.Files == files {
		made, err := c.client.CreateExport(c.ctx, last.OperationID, last.Files)
		if err != nil || (made.State != "failed" && made.State != "expired") {
			return made, true, err
		}
	}
	next := asked{uuid.NewString(), files}
	if raw, err = json.Marshal(next); err == nil {
		err = durable.WriteFile(path, raw)
	}
	if err == nil {
		made, err = c.client.CreateExport(c.ctx, next.OperationID, next.Files)
	}
	return made, false, err
}

func erase(c *call) error {
	erasures := view[client.Erasure]{name: "erasure", fields: func(_ *call, e client.Erasure) []field {
		return []field{{"erasure", e.State}, {"asked for", utc(e.RequestedAt) + " by the " + e.RequestedBy},
			{"due", utc(e.DueAt)}, {"held by", strings.Join(e.HeldBy, ", ")}}
	}}
	switch {
	case c.has("cancel"):
		if err := c.client.CancelErasure(c.ctx); err != nil {
			return err
		}
		return c.show(map[string]bool{"cancelled": true}, field{"cancelled", "true"})
	case c.has("confirm"):
		erasure, err := c.client.RequestErasure(c.ctx, uuid.NewString(), strings.TrimPrefix(c.text("confirm"), "@"))
		return erasures.show(c, erasure, err)
	}
	return c.orNone(request(c, erasures, http.MethodGet, "/bots/me/erasure", nil), "No erasure is requested.")
}
