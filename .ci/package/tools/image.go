package main

import (
	"errors"
	"os"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// account is the user of the images, by number, so that Kubernetes sees that it is not root.
const account = "10001:10001"

// image writes an OCI layout with one layer, the tar archive of a root folder. SOURCE_DATE_EPOCH is when it was made.
func image(root, name, version, arch, target string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return errors.New("SOURCE_DATE_EPOCH is not set")
	}
	made := v1.Time{Time: time.Unix(seconds, 0).UTC()}
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
	path, err := layout.Write(target, empty.Index)
	if err != nil {
		return err
	}
	return path.AppendImage(complete, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": name, "io.containerd.image.name": "localhost/" + name,
	}))
}
