package doctor

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// read decodes a document, and reports whether it could.
func (e *examination) read(path string, into any) bool {
	got := e.got[path]
	if got == nil {
		return false
	}
	if err := json.Unmarshal(got.body, into); err != nil {
		e.reportFalsef(path, "it is no JSON of its kind: %v", err)
		return false
	}
	return true
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// checkDescription asks every path of the description which methods it has.
func (e *examination) checkDescription() {
	var description struct {
		OpenAPI string
		Servers []link
		Paths   map[string]map[string]json.RawMessage
	}
	if !e.read(openapiPath, &description) {
		return
	}
	if !strings.HasPrefix(description.OpenAPI, "3.1") {
		e.reportFalsef(openapiPath, "it is OpenAPI %q instead of 3.1", description.OpenAPI)
	}
	e.own(openapiPath, description.Servers)
	for _, path := range slices.Sorted(maps.Keys(description.Paths)) {
		for _, method := range []string{"GET", "POST", "PATCH", "PUT", "DELETE"} {
			if _, ok := description.Paths[path][strings.ToLower(method)]; ok {
				e.api[path] = append(e.api[path], method)
			}
		}
		example := parameter.ReplaceAllString(path, "00000000-0000-7000-8000-000000000000")
		got, err := e.ask(http.MethodOptions, e.origin+example)
		if err != nil || got.status != http.StatusNoContent {
			e.reportFalsef(openapiPath, "%s is not there", path)
			continue
		}
		for _, method := range e.api[path] {
			if !slices.Contains(strings.Split(strings.ReplaceAll(got.header.Get("Allow"), " ", ""), ","), method) {
				e.reportFalsef(openapiPath, "%s does not take %s", path, method)
			}
		}
	}
	if text := e.got[wholeTextPath]; text != nil {
		for path, methods := range e.api {
			for _, method := range methods {
				if !bytes.Contains(text.body, []byte("`"+method+" "+path+"`")) {
					e.reportFalsef(wholeTextPath, "%s %s is missing", method, path)
				}
			}
		}
	}
}

// link is an address in a list of a document.
type link struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Href   string `json:"href"`
	Digest string `json:"digest"`
}

// own reports links to other servers, and returns the others.
func (e *examination) own(path string, links []link) []link {
	return slices.DeleteFunc(links, func(l link) bool {
		address := cmp.Or(l.Href, l.URL)
		own := address == e.origin || strings.HasPrefix(address, e.origin+"/")
		if !own {
			e.reportFalsef(path, "%s is not of this server", address)
		}
		return !own
	})
}

// checkSkills compares the skill with the digest of the index.
func (e *examination) checkSkills() {
	var index struct{ Skills []link }
	if e.read(indexPath, &index) && len(index.Skills) == 0 {
		e.reportFalsef(indexPath, "it names no skill")
	}
	for _, skill := range e.own(indexPath, index.Skills) {
		got, err := e.ask(http.MethodGet, skill.URL)
		if err != nil || got.status != http.StatusOK {
			e.reportFalsef(indexPath, "the skill %s is not at %s", skill.Name, skill.URL)
			continue
		}
		if sum := sha256.Sum256(got.body); skill.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
			e.reportFalsef(indexPath, "the skill %s has another digest than %s", skill.Name, skill.Digest)
		}
		if plain := e.got[plainSkillPath]; plain != nil && !bytes.Equal(plain.body, got.body) {
			e.reportFalsef(indexPath, "the skill %s is another than %s", skill.Name, plainSkillPath)
		}
	}
}

// checkCatalogs checks the links of two catalogs: of the API, and of skills and tools. Each answers 200 except an item, which need
// not accept GET. The catalog of the API leads to the description.
func (e *examination) checkCatalogs() {
	var catalog struct {
		Linkset []map[string]json.RawMessage
		Entries []link
	}
	described := !e.read(catalogPath, &catalog)
	for _, set := range catalog.Linkset {
		for relation, raw := range set {
			var links []link
			_ = json.Unmarshal(raw, &links) // the anchor has none
			for _, one := range e.own(catalogPath, links) {
				described = described || one.Href == e.origin+openapiPath
				if relation != "item" && e.status(one.Href) != http.StatusOK {
					e.reportFalsef(catalogPath, "%s answers %d", one.Href, e.status(one.Href))
				}
			}
		}
	}
	if !described {
		e.reportFalsef(catalogPath, "it does not lead to %s", openapiPath)
	}
	e.read(aiCatalogPath, &catalog)
	for _, one := range e.own(aiCatalogPath, catalog.Entries) {
		if status := e.status(one.URL); status != http.StatusOK {
			e.reportFalsef(aiCatalogPath, "%s answers %d", one.URL, status)
		}
	}
}

// checkCard sends an empty request without a token to each address of the tools. They must refuse it, because it is no valid
// message or has no token.
func (e *examination) checkCard() {
	var card struct{ Remotes []link }
	if e.read(cardPath, &card) && len(card.Remotes) == 0 {
		e.reportFalsef(cardPath, "it names no place of the tools")
	}
	for _, remote := range e.own(cardPath, card.Remotes) {
		got, err := e.ask(http.MethodPost, remote.URL, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
		if err != nil || (got.status != http.StatusUnauthorized && got.status != http.StatusBadRequest) {
			e.reportFalsef(cardPath, "there are no tools at %s", remote.URL)
		}
	}
}

// checkRobots compares the paths that search engines may not read with the documents, which they may read. The longest line
// about a path decides (RFC 9309). Groups of lines for one search engine are read as if they were for all.
func (e *examination) checkRobots() {
	if e.got[robotsPath] == nil {
		return
	}
	for _, document := range documents {
		length, allowed := 0, true
		for line := range strings.Lines(string(e.got[robotsPath].body)) {
			rule, prefix, _ := strings.Cut(strings.TrimSpace(line), ":")
			rule, prefix = strings.ToLower(rule), strings.TrimSuffix(strings.TrimSpace(prefix), "*")
			decides := len(prefix) > length || len(prefix) == length && rule == "allow"
			if (rule == "allow" || rule == "disallow") && prefix != "" && strings.HasPrefix(document.path, prefix) && decides {
				length, allowed = len(prefix), rule == "allow"
			}
		}
		if document.listed && !allowed {
			e.reportFalsef(robotsPath, "it forbids %s", document.path)
		}
	}
}

var (
	address   = regexp.MustCompile("https?://[^\\s\"'`)<>\\\\|,]+")
	operation = regexp.MustCompile(`\b(GET|POST|PATCH|DELETE) (/api/v1/[a-zA-Z0-9_/.{}-]*[a-zA-Z0-9_}])`)
)

// checkNames follows the addresses and the requests that a text names.
func (e *examination) checkNames(path string) {
	if e.got[path] == nil || path == openapiPath {
		return
	}
	text := string(e.got[path].body)
	for _, named := range unique(address.FindAllString(text, -1)) {
		e.checkAddress(path, strings.TrimRight(named, ".,;:?"))
	}
	for _, named := range unique(operation.FindAllString(text, -1)) {
		method, target, _ := strings.Cut(named, " ")
		if len(e.api) > 0 && !e.has(method, target) {
			e.reportFalsef(path, "there is no %s", named)
		}
	}
}

func unique(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

// checkAddress requests an address of this server, and reports loopback addresses, which mean the reader's own machine.
func (e *examination) checkAddress(path, named string) {
	u, err := url.Parse(named)
	if err != nil || strings.ContainsAny(named, "${}…") || u.Host == "" {
		return // an example with placeholders
	}
	if named != e.origin && !strings.HasPrefix(named, e.origin+"/") {
		if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
			e.reportFalsef(path, "%s is the reader's own machine, not this server", named)
		}
		return
	}
	if u.Path == "" || u.Path == "/" || u.Path == "/api/v1" || e.has("", u.Path) {
		return
	}
	if status := e.status(named); status == http.StatusNotFound || status >= 500 || status == 0 {
		e.reportFalsef(path, "%s answers %d", named, status)
	}
}

// has reports whether the description has a path, with that method unless it is empty.
func (e *examination) has(method, path string) bool {
	segments := strings.Split(path, "/")
	for known, methods := range e.api {
		matches := slices.EqualFunc(strings.Split(known, "/"), segments, func(a, b string) bool {
			return a == b || strings.HasPrefix(a, "{")
		})
		if matches && (method == "" || slices.Contains(methods, method)) {
			return true
		}
	}
	return false
}
