package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
)

// nightly skips t with -short: it runs every night.
func nightly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs every night")
	}
}

// must returns the result of a call that must succeed: must(os.ReadFile(path))(t).
func must[T any](result T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		require.NoError(t, err)
		return result
	}
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestMinisignVerifiesSignatures(t *testing.T) {
	nightly(t)
	public, secret, err := minisign.GenerateKey(nil)
	require.NoError(t, err)
	encrypted := must(minisign.EncryptKey("a password", secret))(t)
	plain := must(secret.MarshalText())(t)
	for _, key := range [][]byte{encrypted, plain} {
		folder := t.TempDir()
		file := write(t, filepath.Join(folder, "SHA256SUMS"), "sums\n")
		t.Setenv("STOA_RELEASE_KEY_FILE", write(t, filepath.Join(folder, "key"), string(key)))
		t.Setenv("STOA_RELEASE_PASSWORD", "a password")
		require.NoError(t, exec.Command("../sign", file, filepath.Join(folder, "minisign.pub"), "stoa 1").Run())
		signature, err := os.ReadFile(file + ".minisig")
		require.NoError(t, err)
		require.True(t, minisign.Verify(public, []byte("sums\n"), signature))
		require.False(t, minisign.Verify(public, []byte("other\n"), signature))
		if program, err := exec.LookPath("minisign"); err == nil {
			check := []string{"-V", "-m", file, "-p", filepath.Join(folder, "minisign.pub")}
			said, err := exec.Command(program, check...).CombinedOutput()
			require.NoError(t, err, string(said))
			write(t, file, "changed\n")
			require.Error(t, exec.Command(program, check...).Run())
		}
	}
	t.Setenv("STOA_RELEASE_KEY_FILE", write(t, filepath.Join(t.TempDir(), "key"), string(encrypted)))
	t.Setenv("STOA_RELEASE_PASSWORD", "another")
	require.Error(t, exec.Command("../sign", os.DevNull, filepath.Join(t.TempDir(), "minisign.pub"), "").Run())
}

// bill returns the bill of materials of an artifact, as assemble writes it.
func bill(t *testing.T, artifact, folder string) []byte {
	t.Helper()
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	raw := must(exec.Command("../sbom", artifact, "1", folder).Output())(t)
	return raw
}

func TestABillOfMaterialsNamesThePartsOfAnArtifact(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "var/lib/dpkg/status"), "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\n"+
		"Version: 2.36-9+deb12u1\nDescription: C\n more: of it\n\nPackage: gone\nStatus: deinstall ok config-files\nVersion: 1\n")
	write(t, filepath.Join(folder, "client/go.mod"), "module x\n\ngo 1.26\n\nrequire example.org/m v1.2.3\n")
	write(t, filepath.Join(folder, "package/package.json"), `{"dependencies": {"@a/b": "1.0.0"}}`)
	write(t, filepath.Join(folder, "chart/Chart.yaml"), "appVersion: 1.0.0+git1\n")
	write(t, filepath.Join(folder, "chart/values.yaml"), "image: {repository: localhost/stoa}\n")
	program := must(os.Executable())(t)
	require.NoError(t, os.Symlink(program, filepath.Join(folder, "link")))
	raw := must(os.ReadFile(program))(t)
	require.NoError(t, os.Chmod(write(t, filepath.Join(folder, "usr/bin/program"), string(raw)), 0o700))
	var read cyclonedx.BOM
	require.NoError(t, json.Unmarshal(bill(t, program, folder), &read))
	purls := map[string]bool{}
	for _, component := range *read.Components {
		require.False(t, purls[component.BOMRef])
		purls[component.PackageURL] = true
	}
	for _, purl := range []string{
		"pkg:deb/debian/libc6@2.36-9+deb12u1?arch=amd64", "pkg:golang/example.org/m@v1.2.3", "pkg:npm/%40a/b@1.0.0",
		"pkg:golang/github.com/google/uuid@v1.6.0", "pkg:docker/stoa@1.0.0-git1?repository_url=localhost",
	} {
		require.Contains(t, purls, purl)
	}
	require.NotContains(t, purls, "pkg:deb/debian/gone@1?arch=")
	require.Equal(t, cyclonedx.SpecVersion1_6, read.SpecVersion)
	require.Regexp(t, "^urn:uuid:[0-9a-f]{8}-", read.SerialNumber)
	require.Len(t, *(*read.Dependencies)[0].Dependencies, len(purls), "the artifact depends on each component")
}

// provenance returns the provenance of files, as assemble writes it.
func provenance(t *testing.T, files ...string) []byte {
	t.Helper()
	for name, value := range map[string]string{
		"SOURCE": "https://stoa.example/stoa", "COMMIT": "0123456789012345678901234567890123456789", "BUILDER": "https://stoa.example/builder",
		"VERSION": "1", "SOURCE_DATE_EPOCH": "1700000000", "GO_VERSION": "go1", "SUITE": "bookworm",
	} {
		t.Setenv(name, value)
	}
	raw := must(exec.Command("../provenance", files...).Output())(t)
	return raw
}

func TestProvenanceFollowsInTotoAndSLSA(t *testing.T) {
	folder := t.TempDir()
	raw := provenance(t, write(t, filepath.Join(folder, "a"), "a"), write(t, filepath.Join(folder, "b"), "b"))
	var read intoto.Statement
	require.NoError(t, protojson.Unmarshal(raw, &read))
	require.NoError(t, read.Validate())
	require.Len(t, read.Subject, 2)
	require.Equal(t, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", read.Subject[0].Digest["sha256"])
	inner := must(protojson.Marshal(read.Predicate))(t)
	var made slsa.Provenance
	require.NoError(t, protojson.Unmarshal(inner, &made))
	require.NoError(t, made.Validate())
}

// A signed provenance names the commit, so files that differ from the commit are not signed.
func TestOnlyACommitIsSigned(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"release", "lines"} {
		raw := must(os.ReadFile("../" + name))(t)
		write(t, filepath.Join(folder, ".ci/package", name), string(raw))
	}
	said, err := exec.Command("git", "init", "-q", folder).CombinedOutput()
	require.NoError(t, err, string(said))
	for key, reason := range map[string]string{"": "build: not found", "a key": "only a commit is signed"} {
		t.Setenv("STOA_RELEASE_KEY_FILE", key)
		said, err := exec.Command("sh", filepath.Join(folder, ".ci/package/release")).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(said), "the tree differs from the commit")
		require.Contains(t, string(said), reason)
	}
}

// smallRelease makes a signed release of one archive, as assemble does, and returns its folder and the public key.
func smallRelease(t *testing.T) (folder, key string) {
	t.Helper()
	_, secret, err := minisign.GenerateKey(nil)
	require.NoError(t, err)
	plain := must(secret.MarshalText())(t)
	t.Setenv("STOA_RELEASE_KEY_FILE", write(t, filepath.Join(t.TempDir(), "key"), string(plain)))
	folder, key = t.TempDir(), filepath.Join(t.TempDir(), "minisign.pub")
	artifact := write(t, filepath.Join(folder, "stoa_1_amd64.deb"), "a package")
	write(t, filepath.Join(folder, "RELEASE.md"), "# Stoa 1")
	write(t, artifact+".cdx.json", string(bill(t, artifact, t.TempDir())))
	describeAndSign(t, folder, key)
	return folder, key
}

// describeAndSign writes the provenance, the list and the signature of the files in the folder.
func describeAndSign(t *testing.T, folder, key string) {
	t.Helper()
	var files, lines []string
	entries := must(os.ReadDir(folder))(t)
	for _, entry := range entries {
		if !strings.Contains(entry.Name(), "SHA256SUMS") && entry.Name() != "provenance.intoto.json" {
			files = append(files, filepath.Join(folder, entry.Name()))
		}
	}
	write(t, filepath.Join(folder, "provenance.intoto.json"), string(provenance(t, files...)))
	for _, file := range append(files, filepath.Join(folder, "provenance.intoto.json")) {
		raw := must(os.ReadFile(file))(t)
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(raw), filepath.Base(file)))
	}
	list := write(t, filepath.Join(folder, "SHA256SUMS"), strings.Join(lines, ""))
	require.NoError(t, exec.Command("../sign", list, key, "stoa 1").Run())
}

// An undamaged release passes, and each damaged release is refused, even if its author has the key.
func TestDamagedReleasesAreRefused(t *testing.T) {
	nightly(t)
	_, err := exec.LookPath("minisign")
	require.NoError(t, err, ".ci/setup package installs minisign")
	verify := func(folder, key string) (string, error) {
		said, err := exec.Command("../verify-release", folder, key).CombinedOutput()
		return string(said), err
	}
	folder, key := smallRelease(t)
	said, err := verify(folder, key)
	require.NoError(t, err, said)
	_, otherKey := smallRelease(t)

	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, folder string) { require.NoError(t, os.Remove(filepath.Join(folder, name))) }
	}
	change := func(name, content string) func(*testing.T, string) {
		return func(t *testing.T, folder string) { write(t, filepath.Join(folder, name), content) }
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, folder string)
		resign bool
		reason string
	}{
		"a changed package":       {damage: change("stoa_1_amd64.deb", "a packagf"), reason: "differ"},
		"a shorter package":       {damage: change("stoa_1_amd64.deb", ""), reason: "differ"},
		"a package is missing":    {damage: remove("stoa_1_amd64.deb"), reason: "missing"},
		"changed notes":           {damage: change("RELEASE.md", "# Stoa 2"), reason: "differ"},
		"another file":            {damage: change("stoa_1_arm64.deb", "more"), reason: "stoa_1_arm64.deb is not in SHA256SUMS"},
		"part of a listed name":   {damage: change("stoa_1", "more"), reason: "stoa_1 is not in SHA256SUMS"},
		"a hidden file":           {damage: change(".stoa", "more"), reason: ".stoa is not in SHA256SUMS"},
		"a folder":                {damage: change("more/stoa", "more"), reason: "more is no file"},
		"another list":            {damage: change("SHA256SUMS", ""), reason: "not signed by this key"},
		"no list":                 {damage: remove("SHA256SUMS"), reason: "not signed by this key"},
		"no signature":            {damage: remove("SHA256SUMS.minisig"), reason: "not signed by this key"},
		"another signature":       {damage: change("SHA256SUMS.minisig", "x"), reason: "not signed by this key"},
		"no bill of materials":    {damage: remove("stoa_1_amd64.deb.cdx.json"), resign: true, reason: "has no bill of materials"},
		"the bill of another":     {damage: change("stoa_1_amd64.deb", "another package"), resign: true, reason: "cdx.json is of another file"},
		"a link in place of file": {damage: link("RELEASE.md"), reason: "RELEASE.md is no file"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, key := smallRelease(t)
			c.damage(t, folder)
			if c.resign {
				describeAndSign(t, folder, key)
			}
			said, err := verify(folder, key)
			require.Error(t, err)
			require.Contains(t, said, c.reason)
		})
	}
	said, err = verify(folder, otherKey)
	require.Error(t, err)
	require.Contains(t, said, "not signed by this key")
}

// link replaces a file by a link to the same content.
func link(name string) func(*testing.T, string) {
	return func(t *testing.T, folder string) {
		t.Helper()
		elsewhere := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.Rename(filepath.Join(folder, name), elsewhere))
		require.NoError(t, os.Symlink(elsewhere, filepath.Join(folder, name)))
	}
}
