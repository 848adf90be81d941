// Command inspect is the program stoa-inspect, which stoa starts for every uploaded file: it confines itself, reads the file from
// standard input, inspects it and ends (package inspection). It lies beside stoa and has no settings. It alone links libvips.
package main

import (
	"os"

	"stoa/jobs/inspection"
	"stoa/jobs/inspection/render"
)

func main() { os.Exit(inspection.Main(os.Args[1:], render.Renderer{})) }
