package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

// Pages goes through a page list (§1.5) to its end, page by page as the loop asks for more. name is that of the list in the
// answer, query what else is asked. The first error ends it. A list is read as it is at each moment, so what is written
// meanwhile may shift it.
func Pages[T any](ctx context.Context, c *Client, path, name string, query url.Values) iter.Seq2[T, error] {
	return list[T](ctx, c, path, name, query, "page", "next_page")
}

// Rows goes through a cursor list (§1.5) to its end, newest first. The first error ends it.
func Rows[T any](ctx context.Context, c *Client, path, name string, query url.Values) iter.Seq2[T, error] {
	return list[T](ctx, c, path, name, query, "before", "next_before")
}

func list[T any](ctx context.Context, c *Client, path, name string, query url.Values, parameter, next string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		query := maps.Clone(query)
		if query == nil {
			query = make(url.Values)
		}
		for {
			target := path
			if len(query) > 0 {
				target += "?" + query.Encode()
			}
			var answer members
			if err := c.Do(ctx, http.MethodGet, target, nil, &answer); err != nil {
				yield(zero, err)
				return
			}
			records, err := member[[]json.RawMessage](answer, name, http.MethodGet, target)
			if err != nil {
				yield(zero, err)
				return
			}
			for _, raw := range records {
				record, err := decodeRecord[T](raw)
				if err != nil {
					err = fmt.Errorf("%s in the answer to GET %s: %w", name, target, err)
				}
				if !yield(record, err) || err != nil {
					return
				}
			}
			following := cursor(answer[next])
			if following == "" {
				return
			}
			query.Set(parameter, following)
		}
	}
}

// cursor is a number or a text of an answer, empty for null.
func cursor(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var number int64
	if json.Unmarshal(raw, &number) == nil && number != 0 {
		return strconv.FormatInt(number, 10)
	}
	return ""
}

// First collects up to n records, or fewer where the list ends.
func First[T any](records iter.Seq2[T, error], n int) ([]T, error) {
	found := make([]T, 0, max(0, min(n, 64)))
	if n <= 0 {
		return found, nil
	}
	for record, err := range records {
		if err != nil {
			return found, err
		}
		if found = append(found, record); len(found) >= n {
			break
		}
	}
	return found, nil
}
