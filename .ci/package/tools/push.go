package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// push sends archives of one image, each of another architecture, to a registry: as REPOSITORY:TAG, and as latest. It uses the
// login of "docker login" or "podman login". It prints the image's name with its digest.
func push(repository, version string, archives []string) error {
	to, err := name.NewRepository(repository)
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, file := range archives {
		folder, err := os.MkdirTemp("", "image")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		image, platform, err := readArchive(file, folder)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	login := remote.WithAuthFromKeychain(authn.DefaultKeychain)
	if err := remote.WriteIndex(to.Tag(tag(version)), index, login); err != nil {
		return err
	}
	if err := remote.Tag(to.Tag("latest"), index, login); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Println(to.Digest(digest.String()))
	return nil
}

// readArchive unpacks an archive of writeArchive into the folder, and returns its image.
func readArchive(file, folder string) (v1.Image, *v1.Platform, error) {
	if err := unpack(file, folder); err != nil {
		return nil, nil, err
	}
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, nil, err
	}
	if len(manifest.Manifests) == 0 {
		return nil, nil, errors.New("it holds no image")
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	return image, manifest.Manifests[0].Platform, err
}

func unpack(file, folder string) error {
	source, err := os.Open(file)
	if err != nil {
		return err
	}
	defer source.Close()
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for archive := tar.NewReader(source); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := root.MkdirAll(path.Dir(header.Name), 0o755); err != nil {
			return err
		}
		target, err := root.Create(header.Name)
		if err != nil {
			return err
		}
		if _, err := io.Copy(target, archive); err != nil {
			return errors.Join(err, target.Close())
		}
		if err := target.Close(); err != nil {
			return err
		}
	}
}
