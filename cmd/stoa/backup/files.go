package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// sharedBackup is an earlier backup whose files the next one may share.
type sharedBackup struct {
	folder, generation string
	// sums are of its sound files.
	sums checksums
}

// copyFiles copies the file store into a folder, notes the files' checksums, and returns how many files and bytes that are. What an
// earlier backup holds already is shared with it; nil where there is none.
func (s Store) copyFiles(ctx context.Context, to string, earlier *sharedBackup, sums checksums) (files, size int64, err error) {
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
		if object.IsDir || !filepath.IsLocal(filepath.FromSlash(object.Key)) || strings.ContainsRune(object.Key, '\n') {
			continue // no file of ours
		}
		path := filesFolder + "/" + object.Key
		sum, err := s.copyFile(ctx, object, filepath.Join(to, filepath.FromSlash(object.Key)), path, earlier)
		if err != nil {
			return files, size, err
		}
		if sum != "" {
			sums[path] = sum
			files++
			size += object.Size
		}
	}
}

// copyFile copies one file and returns its checksum, or "" if it has gone since it was listed.
func (s Store) copyFile(ctx context.Context, object *blob.ListObject, to, path string, earlier *sharedBackup) (sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	if earlier != nil && earlier.sums[path] != "" && shared(filepath.Join(earlier.folder, filepath.FromSlash(path)), to, object.Size) {
		return earlier.sums[path], nil
	}
	reader, err := s.Files.NewReader(ctx, object.Key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	read := sha256.New()
	_, err = io.Copy(f, io.TeeReader(reader, read))
	return hex.EncodeToString(read.Sum(nil)), errors.Join(err, f.Close())
}

// shared links to a file of an earlier backup, when it is there and has the size.
func shared(earlier, path string, size int64) bool {
	info, err := os.Lstat(earlier)
	return err == nil && info.Mode().IsRegular() && info.Size() == size && os.Link(earlier, path) == nil
}

// putFiles writes the files of a backup into the file store, except those that are there and those that are left out, which are named
// by their paths below the backup's folder.
func (s Store) putFiles(ctx context.Context, from string, leaveOut map[string]bool) (err error) {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return fs.WalkDir(root.FS(), ".", func(key string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || leaveOut[filesFolder+"/"+key] {
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
