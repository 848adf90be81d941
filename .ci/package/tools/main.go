// Command tools packs the artifacts of .ci/package: the Debian package, by nfpm without its packers of other formats, and the
// images, which it also pushes to a registry. It writes and signs the descriptions of a release.
//
//	tools deb nfpm.yaml target.deb
//	tools image root.tar repository version architecture target.tar
//	tools push repository version image.tar…
//	tools sbom artifact version folder target
//	tools provenance target file…
//	tools sign file public-key comment
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aead.dev/minisign"
	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tools:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "deb":
		return pack(args[1], args[2])
	case len(args) == 6 && args[0] == "image":
		return image(args[1], args[2], args[3], args[4], args[5])
	case len(args) > 3 && args[0] == "push":
		return push(args[1], args[2], args[3:])
	case len(args) == 5 && args[0] == "sbom":
		return sbom(args[1], args[2], args[3], args[4])
	case len(args) > 2 && args[0] == "provenance":
		return provenance(args[1], args[2:])
	case len(args) == 4 && args[0] == "sign":
		return sign(args[1], args[2], args[3])
	}
	return errors.New("usage: see the comment of the package")
}

// pack reads a configuration, in which variables of the environment are replaced, and writes the package.
func pack(source, target string) error {
	config, err := nfpm.ParseFile(source)
	if err != nil {
		return err
	}
	info, err := config.Get("deb")
	if err != nil {
		return err
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	file, err := os.Create(target)
	if err != nil {
		return err
	}
	if err := deb.Default.Package(info, file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// sign writes FILE.minisig, the signature that minisign -V checks, and the public key beside it as minisign.pub.
// STOA_RELEASE_KEY_FILE names the secret key as minisign -G writes it; STOA_RELEASE_PASSWORD decrypts it.
func sign(file, public, comment string) error {
	text, err := os.ReadFile(os.Getenv("STOA_RELEASE_KEY_FILE"))
	if err != nil {
		return err
	}
	var key minisign.PrivateKey
	if minisign.IsEncrypted(text) {
		key, err = minisign.DecryptKey(os.Getenv("STOA_RELEASE_PASSWORD"), text)
	} else {
		err = key.UnmarshalText(text)
	}
	if err != nil {
		return fmt.Errorf("the key of STOA_RELEASE_KEY_FILE: %w", err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	signature := minisign.SignWithComments(key, content, comment, "signature of "+comment)
	if err := os.WriteFile(file+".minisig", signature, 0o644); err != nil {
		return err
	}
	written, err := key.Public().(minisign.PublicKey).MarshalText()
	if err != nil {
		return err
	}
	return os.WriteFile(public, append(written, '\n'), 0o644)
}

// resource is a ResourceDescriptor of in-toto.
type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

type predicate struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		InternalParameters   map[string]string `json:"internalParameters"`
		ResolvedDependencies []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// provenance writes an in-toto statement with SLSA's provenance (v1) of files: the commit and the builder. It holds no build
// time and no machine name, so that another machine writes the same. The environment has COMMIT, SOURCE, BUILDER, GO_VERSION,
// SUITE and VERSION.
func provenance(target string, files []string) error {
	result := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, file := range files {
		sum, err := fileSHA256(file)
		if err != nil {
			return err
		}
		result.Subject = append(result.Subject, resource{Name: filepath.Base(file), Digest: map[string]string{"sha256": sum}})
	}
	definition := &result.Predicate.BuildDefinition
	definition.BuildType = os.Getenv("SOURCE") + "/docs/packages.md#a-release"
	definition.ExternalParameters = map[string]string{"version": os.Getenv("VERSION"), "target": "make release"}
	definition.InternalParameters = map[string]string{
		"SOURCE_DATE_EPOCH": os.Getenv("SOURCE_DATE_EPOCH"), "go": os.Getenv("GO_VERSION"), "debian": os.Getenv("SUITE"),
	}
	definition.ResolvedDependencies = []resource{
		{URI: "git+" + os.Getenv("SOURCE") + ".git", Digest: map[string]string{"gitCommit": os.Getenv("COMMIT")}},
	}
	result.Predicate.RunDetails.Builder.ID = os.Getenv("BUILDER")
	raw, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(target, append(raw, '\n'), 0o644)
}
