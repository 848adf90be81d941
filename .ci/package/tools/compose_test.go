package main

import (
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/stretchr/testify/require"
)

// docker compose reads compose.yaml, by the schema of the Compose Specification.
func TestCompose(t *testing.T) {
	t.Parallel()
	options, err := cli.NewProjectOptions([]string{"../../../compose.yaml"}, cli.WithName("stoa"), cli.WithWorkingDirectory("../../.."),
		cli.WithEnv([]string{"STOA_DATABASE_PASSWORD=password", "STOA_IMAGE=stoa"}))
	require.NoError(t, err)
	project, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, project.ServiceNames())
	require.NotEmpty(t, project.VolumeNames())
}
