package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// report prints the page, and writes everything down unless something was left out.
func (r *run) report() error {
	if err := r.data.Page(os.Stdout); err != nil || len(r.Only) > 0 {
		return err
	}
	if err := os.MkdirAll(filepath.Join(r.Out, "bench"), 0o750); err != nil {
		return err
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"benchmarks.md", r.data.Page},
		{"bench/paths.txt", r.data.Rounds},
		{"bench/growth.txt", r.data.GrowthRounds},
		{"bench/channel.txt", r.data.Channel},
	} {
		if err := writeFile(filepath.Join(r.Out, file.name), file.write); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
