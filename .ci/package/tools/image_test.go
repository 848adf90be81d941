package main

import (
	"archive/tar"
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/require"
)

// anImage writes the archive of an image whose root folder holds one file.
func anImage(t *testing.T, arch string) string {
	t.Helper()
	folder := t.TempDir()
	var root bytes.Buffer
	writer := tar.NewWriter(&root)
	require.NoError(t, writer.WriteHeader(&tar.Header{Name: "file", Mode: 0o644, Size: 4}))
	_, err := writer.Write([]byte(arch)[:4])
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "root.tar"), root.Bytes(), 0o600))
	target := filepath.Join(folder, "image.tar")
	require.NoError(t, image(filepath.Join(folder, "root.tar"), "localhost/stoa", "0.1.0+git1.abc", arch, target))
	return target
}

func TestAnArchiveIsOneImageForDockerAndOCI(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	file := anImage(t, "amd64")
	for _, wanted := range []string{"localhost/stoa:0.1.0-git1.abc", "localhost/stoa:latest"} {
		tag := must(name.NewTag(wanted))(t)
		docker := must(tarball.ImageFromPath(file, &tag))(t)
		oci, platform, err := readArchive(file, t.TempDir())
		require.NoError(t, err)
		require.Equal(t, "linux/amd64", platform.String())
		of := must(docker.ConfigName())(t)
		same := must(oci.ConfigName())(t)
		require.Equal(t, same, of)
	}
	first := must(os.ReadFile(file))(t)
	second := must(os.ReadFile(anImage(t, "amd64")))(t)
	require.Equal(t, first, second)
}

// The script sends the images of the folder, whatever version the repository has, and asks for VERSION if the folder has two.
func TestThePushOfAFolder(t *testing.T) {
	nightly(t)
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	t.Setenv("VERSION", "")
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	to, folder := strings.TrimPrefix(server.URL, "http://")+"/team", t.TempDir()
	send := func() (string, error) {
		said, err := exec.Command("../push", to, folder).CombinedOutput()
		return string(said), err
	}
	said, err := send()
	require.Error(t, err)
	require.Contains(t, said, "there are no images in "+folder)

	for _, image := range []string{"stoa", "stoa-postgresql"} {
		for _, architecture := range []string{"amd64", "arm64"} {
			raw, err := os.ReadFile(anImage(t, architecture))
			require.NoError(t, err)
			write(t, filepath.Join(folder, image+"_0.0.7+git1_"+architecture+".oci.tar"), string(raw))
		}
	}
	said, err = send()
	require.NoError(t, err, said)
	for _, image := range []string{"stoa:0.0.7-git1", "stoa-postgresql:0.0.7-git1"} {
		reference, err := name.ParseReference(to + "/" + image)
		require.NoError(t, err)
		index, err := remote.Index(reference)
		require.NoError(t, err)
		digest, err := index.Digest()
		require.NoError(t, err)
		require.Contains(t, said, digest.String())
	}

	write(t, filepath.Join(folder, "stoa_0.0.8_amd64.oci.tar"), "another")
	said, err = send()
	require.Error(t, err)
	require.Contains(t, said, "set VERSION to one of them: 0.0.7+git1 0.0.8")
}

func TestAPushedImageHasBothArchitectures(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	repository := strings.TrimPrefix(server.URL, "http://") + "/team/stoa"
	require.NoError(t, push(repository, "0.1.0+git1.abc", []string{anImage(t, "amd64"), anImage(t, "arm64")}))
	for _, tag := range []string{"0.1.0-git1.abc", "latest"} {
		reference := must(name.ParseReference(repository + ":" + tag))(t)
		index := must(remote.Index(reference))(t)
		manifest := must(index.IndexManifest())(t)
		require.Len(t, manifest.Manifests, 2)
		require.Equal(t, "arm64", manifest.Manifests[1].Platform.Architecture)
	}
}

// docker compose reads compose.yaml, by the schema of the Compose Specification.
func TestCompose(t *testing.T) {
	t.Parallel()
	options, err := cli.NewProjectOptions([]string{"../../../compose.yaml"}, cli.WithName("stoa"), cli.WithWorkingDirectory("../../.."),
		cli.WithEnv([]string{"STOA_DATABASE_PASSWORD=password", "STOA_IMAGE=stoa"}))
	require.NoError(t, err)
	project := must(options.LoadProject(t.Context()))(t)
	require.NotEmpty(t, project.ServiceNames())
	require.NotEmpty(t, project.VolumeNames())
}
