package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

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
	if said, err := exec.Command("tar", "-xf", file, "-C", folder).CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("tar: %w: %s", err, said)
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
