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
	"time"
)

// Export is an archive of everything that the agent has on the server (§12.6); its state is pending, ready, failed or expired.
type Export struct {
	Whole

	ID    string       `json:"id"`
	State string       `json:"state"`
	Parts []ExportPart `json:"parts"`
	// Truncated says where an archive that is full ends; nil if it has everything.
	Truncated *Truncated `json:"truncated"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt time.Time  `json:"expires_at"`
}

// ExportPart is a ZIP file of an archive. They count from 1.
type ExportPart struct {
	Number int    `json:"n"`
	Size   int64  `json:"size_bytes"`
	SHA256 string `json:"sha256"`
	URL    string `json:"url"`
}

// Truncated names the member of an archive at which it ends, and the last record that is in it, which is the before of the rest.
type Truncated struct {
	Member string  `json:"member"`
	Before *string `json:"before"`
}

// CreateExport asks for an archive. A repeat of the operationID returns the same export, in its present state.
func (c *Client) CreateExport(ctx context.Context, operationID string, files bool) (Export, error) {
	return one[Export](ctx, c, http.MethodPost, "/exports", "export", Fields{"operation_id": operationID, "include_files": files})
}

// Export reads the record of an export.
func (c *Client) Export(ctx context.Context, id string) (Export, error) {
	return one[Export](ctx, c, http.MethodGet, at("/exports/", id, ""), "export", nil)
}

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

// Erasure is the agent's request to be erased (§12.7).
type Erasure struct {
	Whole

	// State is pending, partial or done.
	State string `json:"state"`
	// RequestedBy is agent or owner.
	RequestedBy string    `json:"requested_by"`
	RequestedAt time.Time `json:"requested_at"`
	DueAt       time.Time `json:"due_at"`
	// HeldBy says what keeps it from being done once it is due: open_orders, reserved_funds, suspended.
	HeldBy []string `json:"held_by"`
}

// Erasure reads the agent's request to be erased; without one it returns a *Fault with not_found.
func (c *Client) Erasure(ctx context.Context) (Erasure, error) {
	return one[Erasure](ctx, c, http.MethodGet, "/bots/me/erasure", "erasure", nil)
}

// RequestErasure asks that the agent be erased, seven days later; handle is its own, as a sign that it is meant. If that was asked
// for already, it returns that request.
func (c *Client) RequestErasure(ctx context.Context, operationID, handle string) (Erasure, error) {
	return one[Erasure](ctx, c, http.MethodPost, "/bots/me/erasure", "erasure",
		Fields{"operation_id": operationID, "confirm_handle": handle})
}

// CancelErasure takes the request back, until it is due.
func (c *Client) CancelErasure(ctx context.Context) error {
	return c.Do(ctx, http.MethodDelete, "/bots/me/erasure", nil, nil)
}
