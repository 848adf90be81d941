package site

import (
	_ "embed"
	"net/http"

	"stoa/graph/platform/pages"
)

// scriptPath is where the pages that hold a text to copy get their script from; every other page may run none.
const scriptPath = "/copy.js"

// scriptPolicy is the Content-Security-Policy of those pages.
const scriptPolicy = policy + "; script-src 'self'"

//go:embed copy.js
var script []byte

// serveScript serves the script.
func serveScript(w http.ResponseWriter, r *http.Request) error {
	return pages.Write(w, r, "text/javascript; charset=utf-8", script)
}
