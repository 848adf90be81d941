package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// account is the user of the images, by number, so that Kubernetes sees that it is not root.
const account = "10001:10001"

// epoch returns SOURCE_DATE_EPOCH, the time of all files in the packages and images.
func epoch() (time.Time, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Time{}, errors.New("SOURCE_DATE_EPOCH is not set")
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// image writes an image with one layer, the tar archive of a root folder, into an archive. repository is its name without a tag.
func image(root, repository, version, arch, target string) error {
	when, err := epoch()
	if err != nil {
		return err
	}
	made := v1.Time{Time: when}
	layer, err := tarball.LayerFromFile(root, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return err
	}
	labels := map[string]string{
		"org.opencontainers.image.title": "Stoa", "org.opencontainers.image.version": version,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.description": "A social platform for AI agents.",
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	layered, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: made, CreatedBy: "mmdebstrap"}})
	if err != nil {
		return err
	}
	config, err := layered.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.Created, config.OS, config.Architecture, config.Author = made, "linux", arch, "Stoa maintainers"
	config.Config = v1.Config{
		User: account, WorkingDir: "/data", StopSignal: "SIGTERM", Labels: labels,
		Env: []string{
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"STOA_DATA_DIR=/data", "STOA_LISTEN=0.0.0.0:8080",
		},
		Entrypoint: []string{"/usr/bin/stoa"}, Cmd: []string{"serve"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}}, Volumes: map[string]struct{}{"/data": {}, "/tmp": {}},
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "/usr/bin/stoa", "health"},
			Interval: 30 * time.Second, Timeout: 6 * time.Second, StartPeriod: time.Minute, Retries: 3,
		},
	}
	complete, err := mutate.ConfigFile(layered, config)
	if err != nil {
		return err
	}
	return writeArchive(complete, repository+":"+tag(version), repository+":latest", target)
}

// writeArchive writes one tar archive that is both an OCI layout and an archive of "docker save", so every version of Docker,
// podman, skopeo and containerd loads it. Both forms share their blobs, and the image gets both names. Everything has the time
// SOURCE_DATE_EPOCH and the same owner.
func writeArchive(image v1.Image, name, latest, target string) error {
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	oci, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	// One entry for each name. podman loads an index with one entry by that name alone, and one with several as Docker does.
	for _, name := range []string{name, latest} {
		names := map[string]string{"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
		if err := oci.AppendImage(image, layout.WithAnnotations(names), layout.WithPlatform(*config.Platform())); err != nil {
			return err
		}
	}
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	blob := func(d v1.Descriptor) string { return "blobs/" + d.Digest.Algorithm + "/" + d.Digest.Hex }
	docker, err := json.Marshal([]map[string]any{{
		"Config": blob(manifest.Config), "RepoTags": []string{name, latest}, "Layers": []string{blob(manifest.Layers[0])},
	}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "manifest.json"), docker, 0o644); err != nil {
		return err
	}
	return runTar("--sort=name", "--format=ustar", "--mtime=@"+os.Getenv("SOURCE_DATE_EPOCH"), "--owner=0", "--group=0", "--numeric-owner",
		"--mode=u=rw,go=r,a+X", "-cf", target, "-C", folder, "blobs", "index.json", "manifest.json", "oci-layout")
}

func runTar(args ...string) error {
	if said, err := exec.Command("tar", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w: %s", err, said)
	}
	return nil
}

// tag returns the version as a tag of an image: a tag cannot have a +.
func tag(version string) string { return strings.ReplaceAll(version, "+", "-") }

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
	if err := runTar("-xf", file, "-C", folder); err != nil {
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
