package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

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
