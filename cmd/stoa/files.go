package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"gocloud.dev/blob"

	"stoa/graph/attachments"
)

// fileSettings say where the bytes of attachments are.
type fileSettings struct {
	FilesURL string `help:"Object store such as s3://bucket?endpoint=https://host&region=name; empty: files under the data folder."`
}

// Validate refuses what is no object store.
func (s *fileSettings) Validate() error {
	if s.FilesURL == "" {
		return nil
	}
	if parsed, err := url.Parse(s.FilesURL); err != nil || parsed.Scheme != "s3" || parsed.Host == "" {
		return errors.New("--files-url must be a URL such as s3://bucket?endpoint=https://host&region=name")
	}
	return nil
}

// filesFolder is where files are when they are in no object store.
func (s databaseSettings) filesFolder() string { return filepath.Join(s.DataDir, "files") }

// openFiles opens the file store.
func (p *process) openFiles(ctx context.Context) (*blob.Bucket, error) {
	store, err := attachments.OpenStore(ctx, p.settings.FilesURL, p.settings.filesFolder())
	if err != nil {
		return nil, fmt.Errorf("open the file store: %w", err)
	}
	return store, nil
}

// storage tells whether the file store can be reached. One that is full or read-only fails uploads and nothing else, so this
// process stays ready.
func (p *process) storage(ctx context.Context) error {
	if p.settings.FilesURL == "" {
		_, err := os.Stat(p.settings.filesFolder())
		return err
	}
	there, err := p.files.IsAccessible(ctx)
	if err == nil && !there {
		err = errors.New("there is no such bucket")
	}
	return err
}
