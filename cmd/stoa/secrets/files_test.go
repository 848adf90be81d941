package secrets_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/secrets"
)

// Each variable that may hold a secret may be in a file instead; otherwise the program names the fault and sets nothing.
func TestSecretsOfFiles(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct{ text, want, fault string }{
		"a line":       {text: "postgres://stoa:p%20w@db/stoa\n", want: "postgres://stoa:p%20w@db/stoa"},
		"no line end":  {text: "secret", want: "secret"},
		"Windows":      {text: "secret\r\n", want: "secret"},
		"spaces stay":  {text: " a secret \n", want: " a secret "},
		"empty":        {text: "\n", fault: "is empty"},
		"two lines":    {text: "one\ntwo\n", fault: "more than one line"},
		"a zero":       {text: "one\x00two\n", fault: "more than one line"},
		"much too big": {text: strings.Repeat("x", 1<<20), fault: "more than 16384 bytes"},
	} {
		for _, variable := range []string{
			"STOA_DATABASE_URL", "STOA_DATABASE_DIRECT_URL", "STOA_DATABASE_REPLICA_URL", "STOA_FILES_URL", "STOA_OPERATOR_TOKEN",
			"STOA_SMTP_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "OTEL_EXPORTER_OTLP_HEADERS",
			"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "PGPASSWORD",
		} {
			require.Contains(t, secrets.FileVariables(), variable+"_FILE")
			t.Run(name+" of "+variable, func(t *testing.T) {
				path := filepath.Join(folder, variable)
				require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
				t.Setenv(variable, "")
				t.Setenv(variable+"_FILE", path)
				err := secrets.ReadFiles()
				require.Equal(t, c.want, os.Getenv(variable))
				if c.fault == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, variable+"_FILE: "+path)
				require.ErrorContains(t, err, c.fault)
			})
		}
	}
}

// The chart mounts as files exactly those secrets that the server reads from files.
func TestTheChartMountsSecretFiles(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../.ci/package/chart/values.schema.json")
	require.NoError(t, err)
	var schema struct {
		Properties struct {
			SecretFiles struct {
				Items struct {
					Enum []string `json:"enum"`
				} `json:"items"`
			} `json:"secretFiles"`
		} `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(raw, &schema))
	var mounted []string
	for _, name := range schema.Properties.SecretFiles.Items.Enum {
		mounted = append(mounted, name+"_FILE")
	}
	require.ElementsMatch(t, secrets.FileVariables(), mounted)
}

func TestASecretIsNamedOnce(t *testing.T) {
	t.Setenv("STOA_OPERATOR_TOKEN", "one")
	t.Setenv("STOA_OPERATOR_TOKEN_FILE", filepath.Join(t.TempDir(), "missing"))
	require.ErrorContains(t, secrets.ReadFiles(), "STOA_OPERATOR_TOKEN and STOA_OPERATOR_TOKEN_FILE are both set")
	t.Setenv("STOA_OPERATOR_TOKEN", "")
	require.ErrorIs(t, secrets.ReadFiles(), os.ErrNotExist)
}
