// Package doctor is `stoa doctor`: it requests every description of a server (§9), follows the addresses in it, and reports
// false claims. It changes nothing on the server and needs no token.
package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Paths of the descriptions.
const (
	indexPath      = "/.well-known/agent-skills/index.json"
	catalogPath    = "/.well-known/api-catalog"
	aiCatalogPath  = "/.well-known/ai-catalog.json"
	cardPath       = "/mcp/server-card"
	wholeTextPath  = "/llms-full.txt"
	plainSkillPath = "/skill.md"
	robotsPath     = "/robots.txt"
	openapiPath    = "/api/v1/openapi.json"
	readyPath      = "/readyz"
)

// documents are requested in this order; media is the beginning of the media type. Programs find listed documents by themselves:
// pages of any origin may read them, and each links to the catalog.
var documents = []struct {
	path, media string
	listed      bool
}{
	{indexPath, "application/json", true},
	{"/.well-known/agent-skills/stoa/SKILL.md", "text/markdown", true},
	{catalogPath, "application/linkset+json", true},
	{cardPath, "application/mcp-server-card+json", true},
	{aiCatalogPath, "application/ai-catalog+json", true},
	{"/heartbeat.md", "text/markdown", true},
	{wholeTextPath, "text/plain", true},
	{robotsPath, "text/plain", true},
	{"/orders.md", "text/markdown", true},
	{"/reference.md", "text/markdown", true},
	{plainSkillPath, "text/markdown", false},
	{"/llms.txt", "text/plain", false},
	{openapiPath, "application/json", false},
}

// timeout of one request.
const timeout = 30 * time.Second

// answer is an answer read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// examination holds the values that the checks share.
type examination struct {
	//nolint:containedctx // of one examination
	ctx    context.Context
	origin string
	client *http.Client
	// got holds the documents, nil for each missing document.
	got map[string]*answer
	// falseClaims holds the false claims of each path.
	falseClaims map[string][]string
	// api holds the paths of the description and their methods.
	api map[string][]string
	// asked holds the status of each requested address.
	asked map[string]int
}

// Examine prints a line for each document, and returns an error if a check fails.
func Examine(ctx context.Context, origin string, out io.Writer) error {
	e := &examination{
		ctx: ctx, origin: strings.TrimRight(origin, "/"), got: make(map[string]*answer), falseClaims: make(map[string][]string),
		api: make(map[string][]string), asked: make(map[string]int),
		client: &http.Client{
			Timeout:       timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if _, err := e.ask(http.MethodGet, e.origin+readyPath); err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	for _, document := range documents {
		e.fetch(document.path, document.media, document.listed)
	}
	if status := e.status(e.origin + readyPath); status != http.StatusOK {
		e.reportFalsef(readyPath, "the server is not ready: %d", status)
	}
	e.checkDescription()
	e.checkSkills()
	e.checkCatalogs()
	e.checkCard()
	e.checkRobots()
	for _, document := range documents {
		e.checkNames(document.path)
	}
	return e.print(out)
}

// print reports for each path whether all its claims are true.
func (e *examination) print(out io.Writer) error {
	found := 0
	paths := []string{readyPath}
	for _, document := range documents {
		paths = append(paths, document.path)
	}
	for _, path := range paths {
		if len(e.falseClaims[path]) == 0 {
			fmt.Fprintf(out, "ok    %s\n", path)
		}
		for _, claim := range e.falseClaims[path] {
			found++
			fmt.Fprintf(out, "lies  %s: %s\n", path, claim)
		}
	}
	if found > 0 {
		return fmt.Errorf("%d things that %s says are not so", found, e.origin)
	}
	return nil
}

// reportFalsef records a claim that is not true.
func (e *examination) reportFalsef(path, format string, args ...any) {
	e.falseClaims[path] = append(e.falseClaims[path], fmt.Sprintf(format, args...))
}

// ask sends a request without a token.
func (e *examination) ask(method, address string, header ...string) (*answer, error) {
	request, err := http.NewRequestWithContext(e.ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := e.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	return &answer{response.StatusCode, response.Header, body}, err
}

// status returns the status with which an address answers a GET; 0 if it does not answer.
func (e *examination) status(address string) int {
	if status, ok := e.asked[address]; ok {
		return status
	}
	status := 0
	if got, err := e.ask(http.MethodGet, address); err == nil {
		status = got.status
	}
	e.asked[address] = status
	return status
}

// fetch requests a document, and checks the rules for all documents (§9).
func (e *examination) fetch(path, media string, listed bool) {
	got, err := e.ask(http.MethodGet, e.origin+path)
	if err != nil {
		e.reportFalsef(path, "it does not answer: %v", err)
		return
	}
	if got.status != http.StatusOK {
		e.reportFalsef(path, "it answers %d", got.status)
		return
	}
	e.got[path] = got
	if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, media) {
		e.reportFalsef(path, "its type is %q instead of %s", kind, media)
	}
	if !strings.Contains(strings.Join(got.header.Values("Link"), ","), "<"+catalogPath+`>; rel="api-catalog"`) {
		e.reportFalsef(path, "no Link header leads to %s", catalogPath)
	}
	tag := got.header.Get("ETag")
	again, err := e.ask(http.MethodGet, e.origin+path, "If-None-Match", tag)
	if tag == "" || err != nil || again.status != http.StatusNotModified {
		e.reportFalsef(path, "it does not know its ETag %q again", tag)
	}
	if listed && got.header.Get("Access-Control-Allow-Origin") != "*" {
		e.reportFalsef(path, "pages of other origins may not read it")
	}
}
