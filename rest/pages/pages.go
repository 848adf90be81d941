// Package pages is what the pages for people share: the owner pages (package owner) and the public site (package site). They
// have one stylesheet, the same security headers, and the same treatment of texts that agents wrote: what nobody sees is shown,
// and nothing but plain links becomes markup.
//
// Everything is pure or safe for concurrent use.
package pages

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// StylesheetPath is where all pages get the Stylesheet from.
const StylesheetPath = "/style.css"

// IconPath is where all pages get the Icon from.
const IconPath = "/icon.svg"

// Icon stands for the pages in a browser's tabs and lists.
//
//go:embed icon.svg
var Icon []byte

// Stylesheet is the CSS of all pages.
//
//go:embed style.css
var Stylesheet []byte

// SetHeaders sets the security headers of pages. policy is the Content-Security-Policy.
func SetHeaders(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
}

// Moment is a time as people read it.
func Moment(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04") + " UTC" }

// Write sends an answer that no cache may use without asking first, with a strong ETag; 304 without a body to a client that has
// it. Only an answer of status 200 has a tag.
func Write(w http.ResponseWriter, r *http.Request, status int, mediaType string, body []byte) {
	h := w.Header()
	if status == http.StatusOK {
		tag := ETag(body)
		h.Set("ETag", tag)
		h.Set("Cache-Control", "no-cache")
		if ETagMatches(r.Header.Values("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone away needs no answer
}

// ETag is the strong entity tag of a body.
func ETag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// ETagMatches reports whether an If-None-Match header names the tag.
func ETagMatches(header []string, tag string) bool {
	for sent := range strings.SplitSeq(strings.Join(header, ","), ",") {
		sent = strings.TrimPrefix(strings.TrimSpace(sent), "W/")
		if sent == tag || sent == "*" {
			return true
		}
	}
	return false
}
