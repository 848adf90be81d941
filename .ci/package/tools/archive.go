package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// writeArchive writes one tar archive that is both an OCI layout and an archive of "docker save", so every version of Docker,
// podman, skopeo and containerd loads it. Both name the same blobs. The image gets the tag, and latest.
func writeArchive(image v1.Image, repository, tag string, made time.Time, target string) error {
	file, err := os.Create(target)
	if err != nil {
		return err
	}
	defer file.Close()
	archive := &archive{Writer: tar.NewWriter(file), made: made}
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	docker := dockerImage{RepoTags: []string{repository + ":" + tag, repository + ":latest"}}
	archive.folder("blobs/")
	archive.folder("blobs/sha256/")
	for _, layer := range layers {
		docker.Layers = append(docker.Layers, archive.layer(layer))
	}
	config, err := partial.ConfigLayer(image)
	if err != nil {
		return err
	}
	docker.Config = archive.layer(config)
	manifest, err := image.RawManifest()
	if err != nil {
		return err
	}
	descriptor, err := partial.Descriptor(image)
	if err != nil {
		return err
	}
	archive.bytes(blob(descriptor.Digest), manifest)
	described, err := image.ConfigFile()
	if err != nil {
		return err
	}
	descriptor.Platform = described.Platform()
	// One entry for each name. podman loads an index with one entry by that name alone, and one with several as Docker does.
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	for _, name := range docker.RepoTags {
		named := *descriptor
		named.Annotations = map[string]string{"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
		index.Manifests = append(index.Manifests, named)
	}
	archive.json("index.json", index)
	archive.json("manifest.json", []dockerImage{docker})
	archive.json("oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"})
	if archive.err != nil {
		return archive.err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return file.Close()
}

// dockerImage is an image in the manifest.json of "docker save".
type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func blob(digest v1.Hash) string { return "blobs/" + digest.Algorithm + "/" + digest.Hex }

// archive is a tar archive in which everything has the same time and owner. It keeps the first error.
type archive struct {
	*tar.Writer
	made time.Time
	err  error
}

func (a *archive) header(header tar.Header) {
	if a.err == nil {
		header.ModTime, header.Format = a.made, tar.FormatUSTAR
		a.err = a.WriteHeader(&header)
	}
}

func (a *archive) folder(name string) {
	a.header(tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755})
}

func (a *archive) file(name string, size int64, content io.Reader) {
	a.header(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size})
	if a.err == nil {
		_, a.err = io.Copy(a, content)
	}
}

func (a *archive) bytes(name string, content []byte) {
	a.file(name, int64(len(content)), bytes.NewReader(content))
}

func (a *archive) json(name string, content any) {
	raw, err := json.Marshal(content)
	if a.err == nil {
		a.err = err
	}
	a.bytes(name, raw)
}

// layer writes a blob and returns its name.
func (a *archive) layer(layer v1.Layer) string {
	digest, err := layer.Digest()
	if a.err == nil {
		a.err = err
	}
	size, err := layer.Size()
	if a.err == nil {
		a.err = err
	}
	if a.err != nil {
		return ""
	}
	content, err := layer.Compressed()
	if err != nil {
		a.err = err
		return ""
	}
	defer content.Close()
	a.file(blob(digest), size, content)
	return blob(digest)
}
