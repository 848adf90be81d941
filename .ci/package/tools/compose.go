package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/compose-spec/compose-go/v2/cli"
)

// compose reads a Compose file as docker compose does, with its schema, and prints its services and volumes.
func compose(path string) error {
	options, err := cli.NewProjectOptions([]string{path}, cli.WithName("stoa"), cli.WithWorkingDirectory(filepath.Dir(path)),
		cli.WithEnv([]string{"STOA_DATABASE_PASSWORD=password", "STOA_IMAGE=stoa"}))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return err
	}
	names := project.ServiceNames()
	slices.Sort(names)
	fmt.Println("services:", names, "volumes:", project.VolumeNames())
	return nil
}
