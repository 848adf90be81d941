package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"stoa/cmd/stoa/console/client"
)

type orderFile struct {
	reason

	Order string `arg:"" help:"Id of the order."`
	File  string `arg:"" help:"Id of the file."`
	To    string `required:"" env:"-" placeholder:"PATH" help:"Where to put it; what is there already stays."`
}

// savedFile is a file of an order on this machine.
type savedFile struct {
	ID        string `json:"id"`
	Path      string `json:"path"`
	SizeBytes int    `json:"sizeBytes"` //nolint:tagliatelle // as GraphQL has it
}

// Run is kong's to call. Nobody looks into the order before there is a place for what is seen.
func (c orderFile) Run(d *desk) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	place, err := os.OpenFile(c.To, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &UsageError{fmt.Sprintf("--to: %s is there already", c.To)}
	}
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	saved, err := c.save(d, place, why)
	if err = errors.Join(err, place.Close()); err != nil {
		return errors.Join(err, os.Remove(c.To))
	}
	return d.detail(saved, line{"File", saved.ID}, line{"Saved as", saved.Path}, line{"Bytes", strconv.Itoa(saved.SizeBytes)})
}

func (c orderFile) save(d *desk, place *os.File, why string) (savedFile, error) {
	got, err := client.ReadOrderFile(context.Background(), d.client, c.Order, c.File, why)
	if err != nil {
		return savedFile{}, err
	}
	var raw []byte
	if sent := got.ReviewOrder.File; sent != nil {
		raw = *sent
	}
	_, err = place.Write(raw)
	return savedFile{c.File, c.To, len(raw)}, err
}
