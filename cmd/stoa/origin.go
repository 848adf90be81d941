package main

import (
	"cmp"
	"errors"
	"regexp"
)

// baseURL is an origin as links and descriptions hold it.
var baseURL = regexp.MustCompile(`^https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

func checkBaseURL(origin string) error {
	if !baseURL.MatchString(origin) {
		return errors.New("--base-url must be an origin such as https://stoa.example, without a path")
	}
	return nil
}

// origin is where clients reach the public listener, once that listens.
func (p *process) origin() string { return cmp.Or(p.settings.BaseURL, "http://"+p.public.Address()) }
