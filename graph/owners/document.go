package owners

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

var selectDocument = statements.Named("select_document")

// DocumentPage is where an owner reads a document; its id follows.
const DocumentPage = "/owner/documents/"

// Document is a version of a text that owners confirm (§2.4).
type Document struct {
	ID      uuid.UUID `json:"id" db:"id"`
	Title   string    `json:"title" db:"title"`
	Version string    `json:"version" db:"version"`
	// URL is where it can be read: the operator's own address of it, or its page on this server.
	URL string `json:"url" db:"url"`
	// SHA256 is of the text, in lower-case hexadecimal.
	SHA256 string `json:"sha256" db:"sha256"`
}

// inForce are the documents that owners confirm now.
func (a *API) inForce(ctx context.Context, q db.Querier) ([]*Document, error) {
	documents, err := db.All[Document](ctx, q, selectDocuments)
	if err != nil {
		return nil, err
	}
	for _, d := range documents {
		if d.URL == "" {
			d.URL = a.Email.Origin + DocumentPage + d.ID.String()
		}
	}
	if documents == nil {
		documents = []*Document{}
	}
	return documents, nil
}

// DocumentText is a version of a document with its text.
type DocumentText struct {
	Document
	Text string `db:"text"`
	// Withdrawn: another version is in force, or none.
	Withdrawn bool `db:"withdrawn"`
}

// ReadDocument returns a version of a document, in force or withdrawn. Anyone may call it. Faults: not_found.
func (a *API) ReadDocument(ctx context.Context, id uuid.UUID) (*DocumentText, error) {
	return db.One[DocumentText](ctx, a.DB.SQL, selectDocument, id)
}
