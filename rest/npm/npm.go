// Package npm holds the TypeScript client as npm installs it. package/ is the output of npm pack in rest/client/typescript, which
// make generate renews, so that building the server needs no Node.
package npm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"time"
)

//go:embed package
var built embed.FS

// packed is the time that every file of the archive has, as in the archives of npm.
var packed = time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC)

// exampleOrigin is the address in the examples of the README. Archive puts the address of its server in its place.
const exampleOrigin = "http://127.0.0.1:8080"

// FileName is the name of the archive, such as stoa-client-0.1.0.tgz.
func FileName() string {
	raw, err := built.ReadFile("package/package.json")
	var manifest struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &manifest)
	}
	if err != nil {
		panic(err) // the package is part of this build
	}
	return manifest.Name + "-" + manifest.Version + ".tgz"
}

// Archive returns the package as npm installs it from an address. Its program asks the server at origin unless a flag names
// another. Every call of one build returns the same bytes for an origin.
func Archive(origin string) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	err = fs.WalkDir(built, "package", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := built.ReadFile(path)
		if err != nil {
			return err
		}
		if path == "package/README.md" {
			raw = bytes.ReplaceAll(raw, []byte(exampleOrigin), []byte(origin))
		}
		return add(archive, path, raw)
	})
	if err == nil {
		err = add(archive, "package/origin", []byte(origin))
	}
	err = errors.Join(err, archive.Close(), compressed.Close())
	return out.Bytes(), err
}

func add(archive *tar.Writer, path string, raw []byte) error {
	header := tar.Header{Typeflag: tar.TypeReg, Name: path, Size: int64(len(raw)), Mode: 0o644, ModTime: packed}
	if err := archive.WriteHeader(&header); err != nil {
		return err
	}
	_, err := archive.Write(raw)
	return err
}
