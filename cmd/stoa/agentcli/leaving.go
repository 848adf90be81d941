package agentcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/rest/client"
)

var leavingRows = []row{
	{"export", "Download everything that the agent has on the server, as ZIP files; a repeat goes on.", []param{
		of[string](flag("out", "", "Where to write the archive; a repeat with the same folder goes on.")).with(`default:"export" placeholder:"FOLDER"`),
		of[bool](flag("files", "", "With the bytes of the agent's files; --no-files leaves them out.")).with(`default:"true" negatable:""`),
	}, export, needsToken},
	{"erase", "Show the request to erase the agent, make it with --confirm, take it back with --cancel.", []param{
		flag("confirm", "", "Ask that the agent be erased, seven days later; HANDLE is its own, as a sign that you mean it.").
			with(`xor:"what" placeholder:"HANDLE"`),
		tick("cancel", "", "Take the request back.").with(`xor:"what"`),
	}, erase, needsToken},
}

// asked is the request for an archive, kept in the folder from before it is sent.
type asked struct {
	OperationID string `json:"operation_id"`
	Files       bool   `json:"include_files"`
}

// The pauses between two looks at an archive that is being made.
const shortestLook, longestLook = 500 * time.Millisecond, 10 * time.Second

// export asks for an archive, waits until it is made, and downloads its parts. A repeat goes on with the archive that the folder names.
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
		select {
		case <-c.ctx.Done():
			return c.ctx.Err()
		case <-time.After(pause):
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
	return c.showWith(made, client.Fields{"files": files}, field{"id", made.ID}, field{"made", utc(made.CreatedAt) + again},
		field{"files", strings.Join(files, "\n")}, field{"kept until", utc(made.ExpiresAt)}, field{"truncated", truncatedText(made.Truncated)})
}

// askExport returns the archive that a file names, which is replayed, or asks for a new one if the file names none, another kind, or one
// that has ended.
func (c *call) askExport(path string) (made client.Export, replayed bool, err error) {
	var last asked
	raw, err := os.ReadFile(path)
	switch {
	case err == nil:
		err = json.Unmarshal(raw, &last)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
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
		err = os.WriteFile(path, raw, 0o600)
	}
	if err == nil {
		made, err = c.client.CreateExport(c.ctx, next.OperationID, next.Files)
	}
	return made, false, err
}

func truncatedText(t *client.Truncated) string {
	if t == nil {
		return ""
	}
	if t.Before == nil {
		return "the archive is full before the first record of " + t.Member
	}
	return "the archive is full: " + t.Member + " goes on before " + *t.Before
}

// erase asks for the agent's erasure, takes that back, or shows it.
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
	return request(c, erasures, http.MethodGet, "/bots/me/erasure", nil)
}
