package inspection_test

import (
	"os"
	"testing"

	"stoa/jobs/inspection"
	"stoa/jobs/inspection/render"
)

func TestMain(m *testing.M) { os.Exit(inspection.RunTests(m, render.Renderer{})) }
