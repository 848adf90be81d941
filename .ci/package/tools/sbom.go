package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
	"golang.org/x/mod/modfile"
	"sigs.k8s.io/yaml"
)

// specVersion is a version of CycloneDX that today's scanners read; newer versions add nothing that we need.
const specVersion = cyclonedx.SpecVersion1_6

// bom collects the components of one artifact, each once.
type bom map[string]cyclonedx.Component

func (b bom) add(purl, name, version string, kind cyclonedx.ComponentType) {
	b[purl] = cyclonedx.Component{BOMRef: purl, PackageURL: purl, Name: name, Version: version, Type: kind}
}

// sbom writes the bill of materials of an artifact, CycloneDX as JSON, from its files in the folder. It knows Go's programs,
// which name their modules, a go.mod, a package.json, a chart, and the status of dpkg.
func sbom(artifact, version, folder, target string) error {
	when, err := epoch()
	if err != nil {
		return err
	}
	found := bom{}
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		switch {
		case entry.Name() == "go.mod":
			return found.goMod(path)
		case entry.Name() == "package.json":
			return found.packageJSON(path)
		case entry.Name() == "Chart.yaml":
			return found.chart(filepath.Dir(path))
		case strings.HasSuffix(path, "/dpkg/status"):
			return found.dpkg(filepath.Dir(path))
		}
		return found.program(path)
	})
	if err != nil {
		return err
	}
	result := cyclonedx.NewBOM()
	sum, err := fileSHA256(artifact)
	if err != nil {
		return err
	}
	result.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, []byte(sum)).URN()
	result.Metadata = &cyclonedx.Metadata{
		Timestamp: when.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: "artifact", Type: cyclonedx.ComponentTypeApplication, Name: filepath.Base(artifact), Version: version,
			Supplier: &cyclonedx.OrganizationalEntity{Name: "Stoa maintainers"},
			Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
			Hashes:   &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: sum}},
		},
	}
	components := []cyclonedx.Component{}
	for _, component := range found {
		components = append(components, component)
	}
	slices.SortFunc(components, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	result.Components = &components
	references := make([]string, len(components))
	for i, component := range components {
		references[i] = component.BOMRef
	}
	result.Dependencies = &[]cyclonedx.Dependency{{Ref: "artifact", Dependencies: &references}}
	file, err := os.Create(target)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := cyclonedx.NewBOMEncoder(file, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(result, specVersion); err != nil {
		return err
	}
	return file.Close()
}

func fileSHA256(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func (b bom) module(path, version string) {
	b.add("pkg:golang/"+path+"@"+version, path, version, cyclonedx.ComponentTypeLibrary)
}

// program adds the modules of a program; other files have none.
func (b bom) program(path string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil
	}
	b.add("pkg:generic/go@"+strings.TrimPrefix(info.GoVersion, "go"), "go", strings.TrimPrefix(info.GoVersion, "go"), cyclonedx.ComponentTypePlatform)
	for _, module := range info.Deps {
		if module.Replace == nil {
			b.module(module.Path, module.Version)
		}
	}
	return nil
}

func (b bom) goMod(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := modfile.ParseLax(path, raw, nil)
	if err != nil {
		return err
	}
	for _, require := range file.Require {
		b.module(require.Mod.Path, require.Mod.Version)
	}
	return nil
}

func (b bom) packageJSON(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var file struct{ Dependencies map[string]string }
	if err := json.Unmarshal(raw, &file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for name, version := range file.Dependencies {
		b.add("pkg:npm/"+strings.Replace(name, "@", "%40", 1)+"@"+version, name, version, cyclonedx.ComponentTypeLibrary)
	}
	return nil
}

// chart adds the image that a chart runs unless other values name another.
func (b bom) chart(folder string) error {
	var chart struct{ AppVersion string }
	var values struct{ Image struct{ Repository string } }
	for name, into := range map[string]any{"Chart.yaml": &chart, "values.yaml": &values} {
		raw, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if err := yaml.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("%s of %s: %w", name, folder, err)
		}
	}
	host, name, _ := strings.Cut(values.Image.Repository, "/")
	b.add(fmt.Sprintf("pkg:docker/%s@%s?repository_url=%s", name, tag(chart.AppVersion), host), values.Image.Repository, tag(chart.AppVersion),
		cyclonedx.ComponentTypeContainer)
	return nil
}

// dpkg adds the installed packages that the status in a folder of dpkg lists.
func (b bom) dpkg(folder string) error {
	query := exec.Command("dpkg-query", "--admindir="+folder, "-W", "-f", "${db:Status-Status} ${Package} ${Version} ${Architecture}\n")
	listed, err := query.Output()
	if err != nil {
		return fmt.Errorf("dpkg-query: %w", err)
	}
	for line := range strings.Lines(string(listed)) {
		words := strings.Fields(line)
		if name := words[1]; words[0] == "installed" && name != "stoa" {
			version, arch := words[2], words[3]
			purl := fmt.Sprintf("pkg:deb/debian/%s@%s?arch=%s", url.PathEscape(name), url.PathEscape(version), arch)
			b.add(purl, name, version, cyclonedx.ComponentTypeLibrary)
		}
	}
	return nil
}
