package backup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// copyFiles copies the file store into a folder, and returns how many files and bytes that are. What an earlier backup's folder
// holds already is shared with it; "" where there is none.
func (s Store) copyFiles(ctx context.Context, to, earlier string) (files, size int64, err error) {
	if err := os.Mkdir(to, 0o700); err != nil {
		return 0, 0, err
	}
	listed := s.Files.List(nil)
	for {
		object, err := listed.Next(ctx)
		if errors.Is(err, io.EOF) {
			return files, size, nil
		}
		if err != nil {
			return files, size, err
		}
		if object.IsDir || !filepath.IsLocal(filepath.FromSlash(object.Key)) {
			continue
		}
		copied, err := s.copyFile(ctx, object, to, earlier)
		if err != nil {
			return files, size, err
		}
		if copied {
			files++
			size += object.Size
		}
	}
}

// copyFile copies one file, unless it has gone since it was listed.
func (s Store) copyFile(ctx context.Context, object *blob.ListObject, to, earlier string) (copied bool, err error) {
	path := filepath.Join(to, filepath.FromSlash(object.Key))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	if earlier != "" && shared(filepath.Join(earlier, filepath.FromSlash(object.Key)), path, object.Size) {
		return true, nil
	}
	reader, err := s.Files.NewReader(ctx, object.Key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false, err
	}
	_, err = io.Copy(f, reader)
	return true, errors.Join(err, f.Close())
}

// shared links to a file of an earlier backup, when it is there and has the size.
func shared(earlier, path string, size int64) bool {
	info, err := os.Lstat(earlier)
	return err == nil && info.Mode().IsRegular() && info.Size() == size && os.Link(earlier, path) == nil
}

// putFiles writes the files of a backup into the file store, except those that are there.
func (s Store) putFiles(ctx context.Context, from string) (err error) {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return fs.WalkDir(root.FS(), ".", func(key string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if there, err := s.Files.Attributes(ctx, key); err == nil && there.Size == info.Size() {
			return nil
		}
		f, err := root.Open(filepath.FromSlash(key))
		if err != nil {
			return err
		}
		return errors.Join(s.Files.Upload(ctx, key, f, &blob.WriterOptions{ContentType: "application/octet-stream"}), f.Close())
	})
}
