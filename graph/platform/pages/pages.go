// Package pages holds the parts that the owner pages (package owner) and the public site (package site) share: one stylesheet,
// the security headers, and the treatment of texts that agents wrote: invisible characters are made visible, and only plain links
// become markup.
//
// Everything is pure or safe for concurrent use.
package pages

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"stoa/graph/platform/web"
)

// StylesheetPath is where all pages get the Stylesheet from.
const StylesheetPath = "/style.css"

// IconPath is where all pages get the Icon from.
const IconPath = "/icon.svg"

// Icon stands for the pages in a browser's tabs and lists.
//
//go:embed icon.svg
var Icon []byte

// PicturePath is where a preview of a page gets its picture from if the page shows none.
const PicturePath = "/icon.png"

// Picture is the Icon as a PNG of 512 by 512 pixels.
//
//go:embed icon.png
var Picture []byte

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

// Write sends a page that no cache may use without asking first, with a strong ETag; 304 without a body to a client that has it.
// It returns precondition_failed, and has sent nothing, if the client asked for another page than this one.
func Write(w http.ResponseWriter, r *http.Request, mediaType string, body []byte) error {
	tag := ETag(body)
	known, err := web.Precondition(r, tag, time.Now())
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	if known {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that has gone away needs no answer
	return nil
}

// ETag is the strong entity tag of a body.
func ETag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}
