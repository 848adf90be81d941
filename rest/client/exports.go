package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
)

// partChunk is how many bytes of a part one request asks for, so that none takes long.
const partChunk = 4 << 20

// DownloadPart writes a part of an export to a file and compares its bytes with the digest of its record (ErrDamaged). Until the file is
// whole it has .part behind its name, and the next call goes on from there. A file that is whole is not fetched again.
func (c *Client) DownloadPart(ctx context.Context, exportID string, part ExportPart, path string) error {
	switch err := checkPart(path, part); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDamaged):
		return err
	}
	begun := path + ".part"
	if err := c.fetchPart(ctx, exportID, part, begun); err != nil {
		return err
	}
	if err := checkPart(begun, part); err != nil {
		if errors.Is(err, ErrDamaged) {
			return errors.Join(err, os.Remove(begun)) // the next call begins anew
		}
		return err
	}
	return os.Rename(begun, path)
}

// fetchPart appends what a file lacks of a part.
func (c *Client) fetchPart(ctx context.Context, exportID string, part ExportPart, path string) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Sync(), file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	target := at("/exports/", exportID, "/parts/"+strconv.Itoa(part.Number))
	for have := info.Size(); have < part.Size; {
		answer, err := c.ranged(ctx, target, have, min(have+partChunk, part.Size)-1)
		if err != nil {
			return err
		}
		if answer.Status != http.StatusPartialContent || len(answer.Body) == 0 {
			return fmt.Errorf("GET %s: the server did not answer with the bytes that were asked for", target)
		}
		if _, err := file.Write(answer.Body); err != nil {
			return err
		}
		have += int64(len(answer.Body))
	}
	return nil
}

// ranged reads the bytes of a file from first to last.
func (c *Client) ranged(ctx context.Context, target string, first, last int64) (*Answer, error) {
	return c.repeat(ctx, true, func() (*Answer, error) {
		request, err := c.request(ctx, http.MethodGet, target, "", nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, last))
		return c.exchange(request, target)
	})
}

// checkPart compares a file with the record of a part.
func checkPart(path string, part ExportPart) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != part.SHA256 {
		return fmt.Errorf("%w: %s", ErrDamaged, path)
	}
	return nil
}
