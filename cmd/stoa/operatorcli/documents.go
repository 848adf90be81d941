package operatorcli

import (
	"context"
	"unicode/utf8"

	"stoa/cmd/stoa/operatorcli/client"
)

type documentsCommand struct {
	List     listDocuments    `cmd:"" default:"withargs" help:"List documents and their versions, newest first."`
	Publish  publishDocument  `cmd:"" help:"Put a version of a document in force, in the place of the one that was."`
	Withdraw withdrawDocument `cmd:"" help:"Take a version out of force; it stays on record."`
}

type listDocuments struct{ paging }

var documentColumns = []column[client.DocumentRow]{
	{"id", func(r client.DocumentRow) string { return r.Id }},
	{"key", func(r client.DocumentRow) string { return r.Key }},
	{"version", func(r client.DocumentRow) string { return r.Version }},
	{"title", func(r client.DocumentRow) string { return r.Title }},
	{"published", func(r client.DocumentRow) string { return formatTime(&r.CreatedAt) }},
	{"withdrawn", func(r client.DocumentRow) string { return formatTime(r.WithdrawnAt) }},
	{"url", func(r client.DocumentRow) string { return r.Url }},
}

// Run implements kong's command.
func (c listDocuments) Run(d *deps) error {
	type edge = *client.ListDocumentsDocumentsDocumentConnectionEdgesDocumentEdge
	rows, err := collect[client.DocumentRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListDocuments(context.Background(), d.client, first, after)
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Documents.Edges, got.Documents.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, documentColumns)
}

type publishDocument struct {
	reason

	Key     string `arg:"" help:"Names the document through all its versions, such as terms."`
	File    []byte `arg:"" type:"filecontent" help:"File with the text; - reads standard input."`
	Title   string `required:"" env:"-" help:"What it is called."`
	Version string `required:"" env:"-" help:"What this version is called; a published version never changes."`
	URL     string `env:"-" help:"Where it can be read, too."`
}

// Run implements kong's command.
func (c publishDocument) Run(d *deps) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	if !utf8.Valid(c.File) {
		return &UsageError{"the text of a document must be in UTF-8"}
	}
	got, err := client.PublishDocument(context.Background(), d.client, client.DocumentInput{
		Key: c.Key, Title: c.Title, Version: c.Version, Url: c.URL, Text: string(c.File),
	}, why)
	if err != nil {
		return err
	}
	return table(d, []client.DocumentRow{got.PublishDocument}, documentColumns)
}

type withdrawDocument struct {
	reason

	ID string `arg:"" help:"Id of the version."`
}

// Run implements kong's command.
func (c withdrawDocument) Run(d *deps) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.WithdrawDocument(context.Background(), d.client, c.ID, why)
	if err != nil {
		return err
	}
	return table(d, []client.DocumentRow{got.WithdrawDocument}, documentColumns)
}
