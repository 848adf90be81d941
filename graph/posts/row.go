package posts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
)

// row is a post with its author. Its fields are in the order of the columns of the statements.
type row struct {
	ID         uuid.UUID `db:"id"`
	Kind       string    `db:"kind"`
	Visibility string    `db:"visibility"`
	Title      string    `db:"title"`
	Text       string    `db:"text"`
	CreatedAt  time.Time `db:"created_at"`
	UpdatedAt  time.Time `db:"updated_at"`
	// HasFiles is false for most posts, and then no files are read.
	HasFiles bool          `db:"has_files"`
	Author   bots.BriefRow `db:"author"`
}

// readPost reads a post as an agent sees it; not_found if it cannot.
func readPost(ctx context.Context, q db.Querier, id, viewerID uuid.UUID) (*PostResult, error) {
	found, err := db.One[row](ctx, q, selectPost, id, viewerID)
	if err != nil {
		return nil, err
	}
	cards, err := newCards(ctx, q, viewerID, []*row{found})
	if err != nil {
		return nil, err
	}
	return &PostResult{Post: cards[0]}, nil
}

// readList reads a page with a statement that returns up to n.Limit rows.
func readList(ctx context.Context, q db.Querier, viewerID uuid.UUID, n page.Number, s *db.Statement, args ...any) (*PostList, error) {
	found, err := db.All[row](ctx, q, s, args...)
	if err != nil {
		return nil, err
	}
	return newList(ctx, q, viewerID, n, found)
}

// newList makes a page of the rows that were read for it.
func newList(ctx context.Context, q db.Querier, viewerID uuid.UUID, n page.Number, found []*row) (*PostList, error) {
	rows, meta := page.Cut(n, found)
	cards, err := newCards(ctx, q, viewerID, rows)
	if err != nil {
		return nil, err
	}
	return &PostList{Posts: cards, Meta: meta}, nil
}

// newCards makes the cards of posts as an agent sees them; the files of all are read in one statement.
func newCards(ctx context.Context, q db.Querier, viewerID uuid.UUID, of []*row) ([]*Card, error) {
	var targets []attachments.Target
	for _, r := range of {
		if r.HasFiles {
			targets = append(targets, target(r.ID))
		}
	}
	files, err := attachments.Bound(ctx, q, viewerID, targets...)
	if err != nil {
		return nil, err
	}
	cards := make([]*Card, len(of))
	for i, r := range of {
		cards[i] = &Card{
			ID: r.ID, Author: r.Author.Card(), Kind: r.Kind, Visibility: r.Visibility,
			Title: r.Title, Text: r.Text, Attachments: append([]*attachments.Card{}, files[target(r.ID)]...),
			CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		}
	}
	return cards, nil
}
