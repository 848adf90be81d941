package rest

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// ignoredHeader names the query parameters that an answer has not taken into account (§1.8).
const ignoredHeader = "X-Ignored-Parameters"

// maxIgnored is how many ignored parameters an answer names.
const maxIgnored = 10

// parametersOf returns the query parameters of an input struct, and whether it refuses all others.
func parametersOf[In any]() (names []string, strict bool) {
	for field := range reflect.TypeFor[In]().Fields() {
		if name := field.Tag.Get("query"); name != "" {
			names = append(names, name)
		}
	}
	_, strict = any(*new(In)).(queryChecker)
	return names, strict
}

// nameIgnored names the parameters of a request that its operation does not know, percent-encoded, in the order in which they were sent.
func nameIgnored(h http.Header, o *operation, rawQuery string) {
	if rawQuery == "" || o.strict {
		return
	}
	var ignored []string
	for pair := range strings.SplitSeq(rawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		name = unescape(name)
		encoded := strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
		if name == "" || slices.Contains(o.parameters, name) || slices.Contains(ignored, encoded) {
			continue
		}
		if ignored = append(ignored, encoded); len(ignored) == maxIgnored {
			break
		}
	}
	if len(ignored) > 0 {
		h.Set(ignoredHeader, strings.Join(ignored, ", "))
	}
}
