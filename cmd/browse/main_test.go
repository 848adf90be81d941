//go:build browse

package browse_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

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

// view is a size of the window and a colour scheme.
type view struct {
	width, height int64
	scheme        string
}

// Widths in pixels: a phone and a desktop.
const phone, desktop = 390, 1280

// views are the views in which every page is checked; with -short wholeViews replace them.
var views = []view{{phone, 844, "light"}, {phone, 844, "dark"}, {desktop, 900, "dark"}, {desktop, 900, "light"}}

// wholeViews are the views in which axe-core checks the page by all its rules; in the others it checks only the colours, since
// the scheme changes nothing else.
var wholeViews = []view{views[0], views[2]}

func (v view) String() string { return fmt.Sprintf("%d pixels, %s", v.width, v.scheme) }

// tab is a tab of the browser, which collects the browser's complaints.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// newTab opens a tab. Tabs share cookies unless another context is asked for.
func newTab(t *testing.T, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser, options...)
	t.Cleanup(closeTab)
	b := &tab{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	b.do(
		call(log.Enable, cdp.Empty{}), call(audits.Enable, cdp.Empty{}),
		call(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
	)
	return b
}

// call is a command of the protocol as a step.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, command, params)
		return err
	})
}

// listen records events that a page must not cause: errors, violations of its policy, dialogs.
func (b *tab) listen(event any) {
	var complaint string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complaint = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			complaint += " " + e.ExceptionDetails.Exception.Description
		}
		if strings.Contains(complaint, "Transition was aborted") { // by the test, which changes the size of the window meanwhile
			complaint = ""
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			complaint = "console: " + string(e.Type)
			for _, argument := range e.Args {
				complaint += " " + string(argument.Value) + argument.Description
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			complaint = fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		details, err := json.Marshal(e.Issue.Details)
		if err != nil {
			details = []byte(err.Error())
		}
		complaint = fmt.Sprintf("issue: %s %s", e.Issue.Code, details)
	case *page.EventJavascriptDialogOpening:
		complaint = "dialog: " + e.Message
		go func() {
			_ = chromedp.Do(b.ctx, call(page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}))
		}()
	}
	if complaint != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.complaints = append(b.complaints, complaint)
	}
}

// takeComplaints returns the browser's complaints since its last call.
func (b *tab) takeComplaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.complaints
	b.complaints = nil
	slices.Sort(taken)
	return slices.Compact(taken)
}

// within bounds the time of steps.
func (b *tab) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, patience)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, steps...))
}

// evaluate runs a script and returns its result; it waits for the value of a promise.
func evaluate[T any](b *tab, script string) T {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	return graphtest.Got(chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise)))(b.t)
}

// open goes to an address and returns the status of the answer.
func (b *tab) open(address string) int64 {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	response, err := chromedp.Run(ctx, chromedp.NavigateResponse(address))
	require.NoError(b.t, err, address)
	return statusOf(response)
}

func statusOf(response *network.Response) int64 {
	if response == nil {
		return 0
	}
	return response.Status
}

// look sets the size of the window and the colour scheme.
func (b *tab) look(v view) {
	b.t.Helper()
	b.do(
		call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: v.width, Height: v.height, DeviceScaleFactor: 1, Mobile: v.width == phone,
		}),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}},
		}),
	)
}

// setScripts switches the scripts of pages on or off. Scripts of the tests always run.
func (b *tab) setScripts(on bool) {
	b.t.Helper()
	b.do(call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on}))
}

// press sends a key to the page.
func (b *tab) press(key string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(key))
}

// fill replaces the content of the field with a label by typing.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.Clear(chromedp.CSS(selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

// submit presses Enter or Space on a button, as a person without a mouse does, and waits for the next page.
func (b *tab) submit(selector string) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	_, err := chromedp.RunResponse(ctx, chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(kb.Enter))
	require.NoError(b.t, err)
}

// heading is the text of the page's first heading.
func (b *tab) heading() string {
	b.t.Helper()
	return evaluate[string](b, "document.querySelector('h1').textContent")
}

// checks are functions that run in the page, see checks.js.
//
//go:embed checks.js
var checks string

// check calls one of the functions of checks.js.
func check[T any](b *tab, call string) T {
	b.t.Helper()
	return evaluate[T](b, "("+strings.TrimRight(checks, ";\n ")+")."+call)
}
