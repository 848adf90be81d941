//go:build browse

package browse_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"stoa/graph/graphtest"
)

// browser is the context of the one Chromium that all tests open tabs in.
var browser context.Context

// shared is the database of the server that all tests browse.
var shared graphtest.Shared

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		views = wholeViews
	}
	os.Exit(run(m))
}

// nightly skips t with -short: it runs every night.
func nightly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs every night")
	}
}

func run(m *testing.M) int {
	path, err := exec.LookPath("chromium")
	if err != nil {
		fmt.Fprintln(os.Stderr, "there is no Chromium; make browse installs it:", err)
		return 1
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("font-render-hinting", "none"))
	if os.Geteuid() == 0 { // its sandbox does not work for root
		options = append(options, chromedp.NoSandbox)
	}
	if *writePictures {
		path := filepath.Join(os.TempDir(), "stoa-browse-fonts.conf")
		if err := os.WriteFile(path, []byte(fonts()), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.Remove(path)
		options = append(options, chromedp.Env("FONTCONFIG_FILE="+path))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	first, closeBrowser := chromedp.NewContext(allocator)
	defer closeBrowser()
	browser = first //nolint:fatcontext // it is never derived from itself
	if err := chromedp.Do(browser); err != nil {
		fmt.Fprintln(os.Stderr, "starting Chromium:", err)
		return 1
	}
	defer shared.Close()
	defer stopServer()
	return m.Run()
}
