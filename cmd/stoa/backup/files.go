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

// linkSource is an earlier backup whose files the next one may share by hard links.
type linkSource struct {
	folder, generation string
	// sums are the checksums of its undamaged files.
	sums checksums
}

// exportsPrefix is of the archives of agents in the file store (graph/exports).
const exportsPrefix = "exports/"

// copyFiles copies the file store into a folder, without the archives of agents, adds the checksums to sums, and returns the number of files and bytes. Files
// of earlier are linked instead of copied; earlier may be nil.
func (s Store) copyFiles(ctx context.Context, to string, earlier *linkSource, sums checksums) (files, size int64, err error) {
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
			continue // not a file of an attachment
		}
		if strings.HasPrefix(object.Key, exportsPrefix) {
			continue // it ends in days, and must not outlive an erasure
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
			s.progress(object.Size)
		}
	}
}

// copyFile copies one file and returns its checksum, or "" where it was deleted since it was listed.
func (s Store) copyFile(
	ctx context.Context, object *blob.ListObject, to, path string, earlier *linkSource,
) (sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	if earlier != nil && earlier.sums[path] != "" {
		if linkFile(filepath.Join(earlier.folder, filepath.FromSlash(path)), to, object.Size) {
			return earlier.sums[path], nil
		}
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

// linkFile links a file of an earlier backup where it has the size, and reports whether it did.
func linkFile(earlier, path string, size int64) bool {
	info, err := os.Lstat(earlier)
	return err == nil && info.Mode().IsRegular() && info.Size() == size && os.Link(earlier, path) == nil
}

// putFiles writes the files of a backup into the file store, except those that it has and those in leaveOut, which holds paths
// below the backup's folder.
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
		defer s.progress(info.Size())
		return errors.Join(s.Files.Upload(ctx, key, f, &blob.WriterOptions{ContentType: "application/octet-stream"}), f.Close())
	})
}
