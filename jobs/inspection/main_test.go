package inspection

import (
	"fmt"
	"image/jpeg"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// self is this very binary.
const self = "/proc/self/exe"

// RunTests makes the test binary the child's program (also a misbehaving one) or the server of the tests of confinement, or else
// runs the tests.
func RunTests(m *testing.M, with Renderer) int {
	if len(os.Args) > 1 && os.Args[1] == Subcommand {
		inspect := func(file []byte, asked request) (Report, error) { return attackOr(with, file, asked) }
		return child(os.Args[1:], stepsWithout(os.Getenv(without)), inspect)
	}
	UseProgram(self)
	if folder, ok := os.LookupEnv(serverFolder); ok {
		if err := serveHostile(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	spentTime = 1500 * time.Millisecond // "spin" ends after two seconds, though the kernel counts in ticks and may miss some
	debug.SetMemoryLimit(maxMemory / 2) // within says why
	return m.Run()
}

// BenchmarkPhotograph inspects a JPEG of 12 megapixels, start of the child included, and publishes it. cpu-ms is the processor
// time of the child. If vipsthumbnail is installed, cpu-ratio and wall-ratio compare with its preview of the same size, in turns
// on the same machine.
func BenchmarkPhotograph(b *testing.B) {
	path := filepath.Join(b.TempDir(), "photograph.jpg")
	file := graphtest.Got(os.Create(path))(b)
	require.NoError(b, jpeg.Encode(file, waves(4000, 3000), &jpeg.Options{Quality: 85}))
	require.NoError(b, file.Close())
	original := graphtest.Got(os.Open(path))(b)
	defer original.Close()
	for _, purpose := range []Purpose{Order, Publication} {
		b.Run(string(purpose), func(b *testing.B) {
			var cpu, wall, otherCPU, otherWall time.Duration
			for b.Loop() {
				graphtest.OK(b)(original.Seek(0, io.SeekStart))
				began := time.Now()
				report, state, err := new(Inspector).run(b.Context(), Request{Original: original, Purpose: purpose})
				require.NoError(b, err)
				wall += time.Since(began)
				require.True(b, report.Accepted, report.Reason)
				cpu += state.UserTime() + state.SystemTime()

				made := filepath.Join(b.TempDir(), "t.jpg")
				other := exec.CommandContext(b.Context(), "vipsthumbnail", path, "--size", "1024", "--output", made)
				if other.Err != nil {
					continue
				}
				began = time.Now()
				require.NoError(b, other.Run())
				otherWall += time.Since(began)
				otherCPU += other.ProcessState.UserTime() + other.ProcessState.SystemTime()
			}
			b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms")
			if otherCPU > 0 {
				b.ReportMetric(float64(cpu)/float64(otherCPU), "cpu-ratio")
				b.ReportMetric(float64(wall)/float64(otherWall), "wall-ratio")
			}
		})
	}
}
