package attachments

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/url"
	"os"

	"github.com/google/uuid"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // the s3 scheme of OpenStore
	"gocloud.dev/gcerrors"
)

// OpenStore opens the file store: the folder where address is empty, which it makes with its parents, else an object store
// such as s3://bucket?endpoint=…&region=…. Several processes may share one. What was written is durable when its writer has been
// closed without an error, in a folder (folderStore) as in an object store.
func OpenStore(ctx context.Context, address, folder string) (*blob.Bucket, error) {
	if address != "" {
		return blob.OpenBucket(ctx, compatible(address))
	}
	return openFolder(folder, localDisk{})
}

// compatible asks of a store that is not Amazon's only what they all can do, unless the address says otherwise.
func compatible(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Query().Get("endpoint") == "" {
		return address
	}
	query := parsed.Query()
	for name, setting := range map[string]string{
		"use_path_style": "true", "request_checksum_calculation": "when_required", "response_checksum_validation": "when_required",
	} {
		if !query.Has(name) {
			query.Set(name, setting)
		}
	}
	parsed.RawQuery = query.Encode()
	return parsed.String()
}

// copied is what was written to the store.
type copied struct {
	size int64
	sum  []byte
}

// put copies a local file into the store.
func (a *API) put(ctx context.Context, key, path string) (copied, error) {
	file, err := os.Open(path)
	if err != nil {
		return copied{}, err
	}
	defer file.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	writer, err := a.Store.NewWriter(ctx, key, writerOptions())
	if err != nil {
		return copied{}, err
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(writer, sum), file)
	if err != nil {
		cancel() // Close must not keep half a file
		return copied{}, errors.Join(err, writer.Close())
	}
	return copied{size, sum.Sum(nil)}, writer.Close()
}

// get copies bytes of the store into a local file.
func (a *API) get(ctx context.Context, key, path string) (err error) {
	reader, err := a.Store.NewReader(ctx, key, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, reader)
	return errors.Join(err, file.Close())
}

// remove deletes every version of a file; what is not there already is fine.
func (a *API) remove(ctx context.Context, id uuid.UUID) error {
	for _, key := range keysOf(id) {
		if err := a.Store.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return err
		}
	}
	return nil
}

// removeAll deletes every object that carries the id, also what a crash left unfinished.
func (a *API) removeAll(ctx context.Context, id uuid.UUID) error {
	listed := a.Store.List(&blob.ListOptions{Prefix: keyOf(id, "")})
	for {
		object, err := listed.Next(ctx)
		if errors.Is(err, io.EOF) {
			return a.remove(ctx, id) // a folder that cannot be read lists nothing and fails here
		}
		if err != nil {
			return err
		}
		if err := a.Store.Delete(ctx, object.Key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return err
		}
	}
}

// erase is remove where a failure is left to SweepStrays, which finds bytes without a live record.
func (a *API) erase(ctx context.Context, id uuid.UUID) {
	_ = a.remove(context.WithoutCancel(ctx), id)
}
