package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stoa/graph/lifecycle"
)

// erasuresFile has a line for each agent that was erased at its request. It is in no backup, so a server that starts on a restored
// database learns from it who must stay erased.
const erasuresFile = "erasures.jsonl"

// recordErased appends a line to the file of erasures, durably.
func (s databaseSettings) recordErased(e lifecycle.Erased) (err error) {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(s.DataDir, erasuresFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("record an erasure: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	folder, err := os.Open(s.DataDir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// erasures reads the file of erasures, each agent once. A last line that a crash cut off was not committed and is left out.
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

// repeatErasures erases again, before anything is served, the agents that a restored database has again.
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
