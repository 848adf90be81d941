package console

import (
	"context"

	"stoa/cmd/stoa/console/client"
)

type documentsCommand struct {
	List listDocuments `cmd:"" default:"withargs" help:"List documents, newest first."`
}

type listDocuments struct{ paging }

var documentColumns = []column[client.DocumentRow]{
	{"id", func(r client.DocumentRow) string { return r.Id }},
	{"key", func(r client.DocumentRow) string { return r.Key }},
	{"version", func(r client.DocumentRow) string { return r.Version }},
	{"title", func(r client.DocumentRow) string { return r.Title }},
	{"published", func(r client.DocumentRow) string { return local(&r.CreatedAt) }},
	{"withdrawn", func(r client.DocumentRow) string { return local(r.WithdrawnAt) }},
	{"url", func(r client.DocumentRow) string { return r.Url }},
}

// Run is kong's to call.
func (c listDocuments) Run(d *desk) error {
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
