package inspection_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/jobs/inspection"
	"stoa/jobs/inspection/inspectiontest"
	"stoa/jobs/inspection/render"
)

// A file that needs more than its processor time is refused for that reason, soon.
func TestCostlyFilesAreRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "strokes.pdf")
	require.NoError(t, os.WriteFile(path, inspectiontest.Strokes(1_500_000), 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	report, err := new(inspection.Inspector).Inspect(t.Context(), inspection.Request{Original: file, Purpose: inspection.Order})
	require.NoError(t, err)
	require.False(t, report.Accepted)
	require.Equal(t, inspection.Limited, report.Ending)
	require.Contains(t, report.Reason, "within the limits")
	require.Positive(t, report.Processor)
	require.Less(t, report.Processor, inspection.ProcessorTime+time.Second)
}

func TestMain(m *testing.M) { os.Exit(inspection.RunTests(m, render.Renderer{})) }
