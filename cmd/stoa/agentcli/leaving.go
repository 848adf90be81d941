package agentcli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/rest/client"
)

type exportCommand struct {
	Out   string `env:"-" default:"export" placeholder:"FOLDER" help:"Where to write the archive; a repeat with the same folder goes on."`
	Files bool   `env:"-" default:"true" negatable:"" help:"With the bytes of the agent's files; --no-files leaves them out."`
}

// asked is the request for an archive, kept in the folder from before it is sent.
type asked struct {
	OperationID string `json:"operation_id"`
	Files       bool   `json:"include_files"`
}

// The pauses between two looks at an archive that is being made.
const shortestLook, longestLook = 500 * time.Millisecond, 10 * time.Second

// Run asks for an archive, waits until it is made, and downloads its parts. A repeat goes on with the archive that the folder names.
func (c exportCommand) Run(d *deps, a *client.Agent) error {
	if err := os.MkdirAll(c.Out, 0o700); err != nil {
		return err
	}
	made, replayed, err := c.ask(d, a)
	if err != nil {
		return err
	}
	again := ""
	if replayed {
		again = fmt.Sprintf(", %.0f hours ago; another --out asks for a new one", time.Since(made.CreatedAt).Hours())
	}
	for pause := shortestLook; made.State == "pending"; pause = min(2*pause, longestLook) {
		select {
		case <-d.ctx.Done():
			return d.ctx.Err()
		case <-time.After(pause):
		}
		if made, err = a.Export(d.ctx, made.ID); err != nil {
			return err
		}
	}
	if made.State != "ready" {
		return fmt.Errorf("the export is %s: the same command asks for a new one", made.State)
	}
	files := make([]string, len(made.Parts))
	for i, part := range made.Parts {
		files[i] = filepath.Join(c.Out, fmt.Sprintf("%s.%d.zip", filepath.Base(made.ID), part.Number))
		if err := a.DownloadPart(d.ctx, made.ID, part, files[i]); err != nil {
			return err
		}
	}
	return d.show(struct {
		client.Export
		Files []string `json:"files"`
	}{made, files}, field{"id", made.ID}, field{"made", utc(made.CreatedAt) + again}, field{"files", strings.Join(files, "\n")}, field{"kept until", utc(made.ExpiresAt)},
		field{"truncated", truncatedText(made.Truncated)})
}

// ask returns the archive that the folder names, which is replayed, or asks for a new one if the folder names none, another kind, or one that has ended.
func (c exportCommand) ask(d *deps, a *client.Agent) (made client.Export, replayed bool, err error) {
	var last asked
	path := filepath.Join(c.Out, "export.json")
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
	if last.OperationID != "" && last.Files == c.Files {
		made, err := a.CreateExport(d.ctx, last.OperationID, last.Files)
		if err != nil || (made.State != "failed" && made.State != "expired") {
			return made, true, err
		}
	}
	next := asked{uuid.NewString(), c.Files}
	if raw, err = json.Marshal(next); err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err == nil {
		made, err = a.CreateExport(d.ctx, next.OperationID, next.Files)
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

type eraseCommand struct {
	Confirm string `env:"-" xor:"what" placeholder:"HANDLE" help:"Ask that the agent be erased, seven days later; HANDLE is its own, as a sign that you mean it."`
	Cancel  bool   `env:"-" xor:"what" help:"Take the request back."`
}

// Run asks for the agent's erasure, takes that back, or shows it.
func (c eraseCommand) Run(d *deps, a *client.Agent) error {
	if c.Cancel {
		if err := a.CancelErasure(d.ctx); err != nil {
			return err
		}
		return d.show(map[string]bool{"cancelled": true}, field{"cancelled", strconv.FormatBool(true)})
	}
	ask := a.Erasure
	if c.Confirm != "" {
		ask = func(ctx context.Context) (client.Erasure, error) {
			return a.RequestErasure(ctx, uuid.NewString(), strings.TrimPrefix(c.Confirm, "@"))
		}
	}
	erasure, err := ask(d.ctx)
	if err != nil {
		return err
	}
	return d.show(erasure, field{"erasure", erasure.State}, field{"asked for", utc(erasure.RequestedAt) + " by the " + erasure.RequestedBy},
		field{"due", utc(erasure.DueAt)}, field{"held by", strings.Join(erasure.HeldBy, ", ")})
}
