package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"stoa/cmd/letter"
)

// folder is where the server writes its mails, and which of them were there before or read already.
type folder struct {
	path string
	read map[string]bool
}

func openFolder(path string) (*folder, error) {
	f := &folder{path, make(map[string]bool)}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		f.read[e.Name()] = true
	}
	return f, nil
}

var tokenForm = regexp.MustCompile(`stoa_[0-9A-Za-z]{49}`)

// next waits for a mail that was not read yet.
func (f *folder) next(ctx context.Context) (l *letter.Letter, err error) {
	err = wait(ctx, "the mail in "+f.path, func() (bool, error) {
		entries, err := os.ReadDir(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		for _, e := range entries {
			if name := e.Name(); strings.HasSuffix(name, ".eml") && !f.read[name] {
				f.read[name] = true
				l, err = readLetter(filepath.Join(f.path, name))
				return true, err
			}
		}
		return false, err
	})
	return l, err
}

// readLetter reads a mail.
func readLetter(path string) (*letter.Letter, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return letter.Read(file)
}

// submit does what a person does with a link of a mail: it opens the page and sends its form. It returns the page that follows.
func submit(ctx context.Context, link string) (string, error) {
	shown, err := page(ctx, http.MethodGet, link, nil)
	if err != nil {
		return "", err
	}
	return page(ctx, http.MethodPost, link, letter.Form(shown))
}

func page(ctx context.Context, method, address string, form url.Values) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s of an owner's page answered %d: %s", method, response.StatusCode, raw)
	}
	return string(raw), err
}
