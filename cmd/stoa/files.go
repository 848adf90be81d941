package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "gocloud.dev/blob/s3blob" // the s3 scheme of --files-url

	"stoa/graph/attachments"
	"stoa/graph/lifecycle"
	"stoa/jobs/inspection"
	"stoa/rest/client/durable"
)

// Validate refuses a URL that is not of an S3 bucket.
func (s *fileSettings) Validate() error {
	if s.FilesURL == "" {
		return nil
	}
	if parsed, err := url.Parse(s.FilesURL); err != nil || parsed.Scheme != "s3" || parsed.Host == "" {
		return errors.New("--files-url must be a URL such as s3://bucket?endpoint=https://host&region=name")
	}
	return nil
}

// logHead is the file of the largest signed head of the key log. No backup holds it.
func (s databaseSettings) logHead() string { return filepath.Join(s.DataDir, "log-head") }

// filesFolder is the folder of the files if no object store is set.
func (s databaseSettings) filesFolder() string { return filepath.Join(s.DataDir, "files") }

// openFiles opens the file store; it uses folder if no object store is set.
func (s fileSettings) openFiles(ctx context.Context, folder string) (*attachments.Store, error) {
	store, err := attachments.OpenStore(ctx, s.FilesURL, folder)
	if err != nil {
		return nil, fmt.Errorf("open the file store: %w", err)
	}
	return store, nil
}

// checkStorage returns an error if the file store cannot be reached. It passes for a full or read-only store: only uploads fail
// then, so this process stays ready.
func (p *process) checkStorage(ctx context.Context) error {
	if p.settings.FilesURL == "" {
		_, err := os.Stat(p.settings.filesFolder())
		return err
	}
	found, err := p.files.IsAccessible(ctx)
	if err == nil && !found {
		err = errors.New("there is no such bucket")
	}
	return err
}

// firstChildTimeout bounds the start of the first inspecting child. If it fails, the first upload tries again.
const firstChildTimeout = time.Minute

// findMeasures starts the first child that inspects files, keeps the measures that confine it, and logs them in one line: a
// warning if a measure is not in force.
func (p *process) findMeasures(ctx context.Context, inspector *inspection.Inspector) {
	ctx, cancel := context.WithTimeout(ctx, firstChildTimeout)
	defer cancel()
	measures, err := inspector.Confinement(ctx)
	if err != nil {
		p.log.Error("files cannot be inspected", "error", err)
		return
	}
	p.measures.Store(measures)
	level, text := slog.LevelInfo, "inspection of files is confined"
	attributes := make([]any, 0, 2*len(measures))
	for _, m := range measures {
		detail := m.Detail
		if !m.Holds {
			level, text = slog.LevelWarn, "inspection of files is confined in part"
			detail = "missing: " + detail
		}
		attributes = append(attributes, m.Name, detail)
	}
	p.log.Log(ctx, level, text, attributes...)
}

// erasuresFile has a line for each agent that was erased at its request. It is in no backup, so it tells a server on a restored
// database which agents must stay erased.
const erasuresFile = "erasures.jsonl"

// recordErased appends a line to the file of erasures, durably. It begins with a line break, since the last line may be
// incomplete.
func (s databaseSettings) recordErased(e lifecycle.Erased) (err error) {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	path := filepath.Join(s.DataDir, erasuresFile)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("record an erasure: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := fmt.Fprintf(file, "\n%s\n", line); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return durable.SyncFolderOf(path)
}

// erasures reads the file of erasures, each agent once. It skips an incomplete line, whose erasure was not committed.
func (s databaseSettings) erasures() ([]lifecycle.Erased, error) {
	file, err := os.Open(filepath.Join(s.DataDir, erasuresFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []lifecycle.Erased
	known := make(map[string]bool)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var e lifecycle.Erased
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		if id := e.ErasureID.String(); !known[id] {
			known[id] = true
			all = append(all, e)
		}
	}
	return all, lines.Err()
}

// repeatErasures erases agents again that a restored database contains, before anything is served.
func (p *process) repeatErasures(ctx context.Context, agents *lifecycle.API) error {
	records, err := p.settings.erasures()
	if err != nil || len(records) == 0 {
		return err
	}
	n, err := agents.EraseAgain(ctx, records)
	if n > 0 {
		p.log.WarnContext(ctx, "agents that were erased and came back with a backup are erased again", "count", n)
	}
	return err
}
