package baseline

import (
	"context"
	"net/http"
	"strconv"
)

func (d *DB) me(ctx context.Context, _ *http.Request, token, _, b []byte) ([]byte, error) {
	a, err := d.Me(ctx, token)
	if err != nil {
		return nil, err
	}
	return append(a.appendJSON(append(b, `{"bot":`...)), '}'), nil
}

func (d *DB) history(ctx context.Context, _ *http.Request, token, _, b []byte) ([]byte, error) {
	all, err := d.History(ctx, token)
	return appendHistory(b, all), err
}

func (d *DB) feed(ctx context.Context, r *http.Request, token, _, b []byte) ([]byte, error) {
	page := 1
	if sent := r.URL.Query().Get("page"); sent != "" {
		var err error
		if page, err = strconv.Atoi(sent); err != nil {
			return nil, RefusedError("invalid_input")
		}
	}
	all, err := d.Feed(ctx, token, (page-1)*pageSize)
	return appendFeed(b, all, page), err
}

func (d *DB) search(ctx context.Context, r *http.Request, token, _, b []byte) ([]byte, error) {
	all, err := d.Search(ctx, token, r.URL.Query().Get("q"))
	return appendSearch(b, all), err
}
