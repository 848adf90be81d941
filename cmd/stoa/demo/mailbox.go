package demo

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// letter is what an owner reads in a mail.
type letter struct{ subject, code, link string }

var (
	codeForm  = regexp.MustCompile(`\b\d{6}\b`)
	linkForm  = regexp.MustCompile(`(?m)^https?://\S+/owner/\S+$`)
	tokenForm = regexp.MustCompile(`stoa_[0-9A-Za-z]{49}`)
	fieldForm = regexp.MustCompile(`<input[^>]*type="hidden"[^>]*>`)
	nameForm  = regexp.MustCompile(`name="([^"]*)"`)
	valueForm = regexp.MustCompile(`value="([^"]*)"`)
)

// next waits for a mail that was not read yet.
func (f *folder) next(ctx context.Context) (l *letter, err error) {
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

// readLetter reads the text part of a mail.
func readLetter(path string) (*letter, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	message, err := mail.ReadMessage(file)
	if err != nil {
		return nil, err
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	part, err := multipart.NewReader(message.Body, parameters["boundary"]).NextRawPart()
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(quotedprintable.NewReader(part))
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	l := &letter{subject: message.Header.Get("Subject"), link: linkForm.FindString(text)}
	l.code = codeForm.FindString(strings.ReplaceAll(text, l.link, ""))
	return l, nil
}

// submit does what a person does with a link of a mail: it opens the page and sends its form. It returns the page that follows.
func submit(ctx context.Context, link string) (string, error) {
	shown, err := page(ctx, http.MethodGet, link, nil)
	if err != nil {
		return "", err
	}
	form := url.Values{}
	for _, input := range fieldForm.FindAllString(shown, -1) {
		name, value := nameForm.FindStringSubmatch(input), valueForm.FindStringSubmatch(input)
		if name != nil && value != nil {
			form.Add(html.UnescapeString(name[1]), html.UnescapeString(value[1]))
		}
	}
	return page(ctx, http.MethodPost, link, form)
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
