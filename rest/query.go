package rest

import (
	"net/url"
	"strings"
)

// readQuery reads a query of which every parameter counts: one that cannot be unescaped keeps its text, so that it is refused
// by its own rule where it has one, instead of being as good as absent. The error is that of the first such parameter.
func readQuery(raw string) (url.Values, error) {
	values, err := url.ParseQuery(raw)
	if err == nil {
		return values, nil
	}
	values = url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name = unescaped(name)
		values[name] = append(values[name], unescaped(value))
	}
	return values, err
}

func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}
