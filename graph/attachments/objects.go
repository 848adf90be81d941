package attachments

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"github.com/google/uuid"
	"gocloud.dev/blob"
)

// prefix of every key of this domain in the store.
const prefix = "attachments/"

// keyOf returns the key of a version of a file. Files are spread over 256 folders by the random end of their ids.
func keyOf(id uuid.UUID, version string) string {
	name := id.String()
	return prefix + name[len(name)-2:] + "/" + name + "." + version
}

func originalKey(id uuid.UUID) string  { return keyOf(id, "original") }
func previewKey(id uuid.UUID) string   { return keyOf(id, "preview") }
func publishedKey(id uuid.UUID) string { return keyOf(id, "published") }

func keysOf(id uuid.UUID) []string {
	return []string{originalKey(id), previewKey(id), publishedKey(id)}
}

// idOfKey returns the file that a stored object belongs to; keys of unfinished objects contain its id, too.
func idOfKey(key string) (uuid.UUID, error) {
	id, _, _ := strings.Cut(path.Base(key), ".")
	return uuid.Parse(id)
}

// writeBuffer is the buffer size of one writer of an object store.
const writeBuffer = 5 << 20

// WriterOptions returns the options of an object of a type.
func WriterOptions(contentType string) *blob.WriterOptions {
	return &blob.WriterOptions{
		ContentType: contentType, DisableContentTypeDetection: true, BufferSize: writeBuffer, MaxConcurrency: 1,
	}
}

func writerOptions() *blob.WriterOptions { return WriterOptions("application/octet-stream") }

// object describes a file that was written to the store.
type object struct {
	size   int64
	sha256 []byte
}

func (a *API) put(ctx context.Context, key string, content []byte) (object, error) {
	sum := sha256.Sum256(content)
	return object{int64(len(content)), sum[:]}, a.Store.Upload(ctx, key, bytes.NewReader(content), writerOptions())
}

// openOriginal copies an original into a local file without a name, which disappears with this process, however it ends.
func (a *API) openOriginal(ctx context.Context, id uuid.UUID) (*os.File, error) {
	reader, err := a.Store.NewReader(ctx, originalKey(id), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }() // the content is complete if Copy has no error
	file, err := os.CreateTemp("", "stoa-original-*")
	if err != nil {
		return nil, err
	}
	_, copied := io.Copy(file, reader)
	_, sought := file.Seek(0, io.SeekStart)
	if err := errors.Join(os.Remove(file.Name()), copied, sought); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// deleteObjects deletes every version of a file.
func (a *API) deleteObjects(ctx context.Context, id uuid.UUID) error {
	for _, key := range keysOf(id) {
		if err := a.Store.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// deletePrefix deletes every object whose key contains the id, also unfinished ones that a crash left.
func (a *API) deletePrefix(ctx context.Context, id uuid.UUID) error {
	if err := a.Store.DeletePrefix(ctx, keyOf(id, "")); err != nil {
		return err
	}
	return a.deleteObjects(ctx, id) // a folder that cannot be read lists nothing and fails here
}
