// Package letter reads the mails that Stoa sends to owners, as a person does, and fills in the forms of the linked pages.
package letter

import (
	"html"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
)

// Letter holds the parts of a mail that an owner reads.
type Letter struct {
	// MessageID is the same for a repeat of a mail.
	MessageID, Subject string
	// Code is six digits and Link an owner's page; either is empty if the mail has none.
	Code, Link string
}

var (
	codeForm  = regexp.MustCompile(`\b\d{6}\b`)
	linkForm  = regexp.MustCompile(`(?m)^https?://\S+/owner/\S+$`)
	fieldForm = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
)

// Read reads the text part of a mail.
func Read(from io.Reader) (*Letter, error) {
	message, err := mail.ReadMessage(from)
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
	l := &Letter{
		MessageID: message.Header.Get("Message-ID"), Subject: message.Header.Get("Subject"), Link: linkForm.FindString(text),
	}
	l.Code = codeForm.FindString(strings.ReplaceAll(text, l.Link, ""))
	return l, nil
}

// Form returns the fields that a browser sends when the button of a page is pressed.
func Form(page string) url.Values {
	form := url.Values{}
	for _, field := range fieldForm.FindAllStringSubmatch(page, -1) {
		form.Add(html.UnescapeString(field[1]), html.UnescapeString(field[2]))
	}
	return form
}
