package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/jobs/inspection"
)

// Operators see the measures that confine the inspection of files; the public sees only the checks of §4.9. Secrets are no
// longer in the environment that the kernel shows, which is closed to other processes of the user.
func TestConfinement(t *testing.T) {
	t.Parallel()
	token := uuid.NewString() + uuid.NewString()
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "STOA_OPERATOR_TOKEN="+token,
		"AWS_SECRET_ACCESS_KEY=hunter2hunter2")

	require.NotContains(t, s.log.String(), "sign-in", "a link is for who starts it by hand")
	var shown struct {
		Status      string               `json:"status"`
		Checks      map[string]string    `json:"checks"`
		Confinement []inspection.Measure `json:"confinement"`
	}
	eventually(t, func() bool {
		// Not through the default transport, which compares answers with the public description.
		answer, err := (&http.Client{Transport: new(http.Transport)}).Get(s.operator + "/readyz")
		require.NoError(t, err)
		defer answer.Body.Close()
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&shown))
		return len(shown.Confinement) > 0
	}, "no confinement on /readyz")
	require.Equal(t, "ok", shown.Status)
	line, _ := s.log.find("inspection of files is confined", nil)
	if line == nil {
		line = s.waitForLog("inspection of files is confined in part")
	}
	for _, name := range []string{
		"user", "capabilities", "no new privileges", "resource limits", "landlock", "seccomp", "server's memory",
	} {
		at := slices.IndexFunc(shown.Confinement, func(m inspection.Measure) bool { return m.Name == name })
		require.GreaterOrEqual(t, at, 0, name)
		require.NotEmpty(t, shown.Confinement[at].Detail)
		require.Contains(t, line, name)
	}

	var public map[string]any
	require.NoError(t, json.Unmarshal(s.get("/readyz").raw, &public))
	require.Equal(t, []string{"checks", "status"}, slices.Sorted(maps.Keys(public)))
	checks := slices.Sorted(maps.Keys(public["checks"].(map[string]any)))
	require.Equal(t, []string{"database", "jobs", "migrations", "storage"}, checks)

	kept, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "environ"))
	if errors.Is(err, fs.ErrPermission) {
		return // as a plain user: closed
	}
	require.NoError(t, err)
	require.Contains(t, string(kept), "STOA_OPERATOR_TOKEN=\x00")
	for _, secret := range []string{token, "testpass77", "hunter2hunter2"} {
		require.NotContains(t, string(kept), secret)
	}
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "environ"))
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(info.Mode().String(), "r--------"))
}
