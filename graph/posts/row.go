package posts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
)

// row is a post with its author.
type row struct {
	ent.Post
	author bots.BriefRow
	// files tells that it has any. Most posts have none, and theirs are not asked for.
	files bool
}

// columns of a row: the post p and its author b.
var columns = `p.id, p.kind, p.visibility, p.title, p.text, p.created_at, p.updated_at,
  EXISTS (SELECT FROM attachments a WHERE a.bound_id = p.id AND a.bound_kind = 'post'),
  ` + bots.BriefColumns("b")

// columnCount is how many columns are.
var columnCount = len(new(row).targets())

// targets of columns, in their order.
func (r *row) targets() []any {
	return append([]any{
		&r.ID, &r.Kind, &r.Visibility, &r.Title, &r.Text, &r.CreatedAt, &r.UpdatedAt, &r.files,
	}, r.author.Targets()...)
}

// list reads a page with a statement that returns columns, up to n.Limit of them.
func list(ctx context.Context, q db.Querier, viewerID uuid.UUID, n page.Number, query string, args ...any) (*PostList, error) {
	found, err := read(ctx, q, query, args...)
	if err != nil {
		return nil, err
	}
	return newList(ctx, q, viewerID, n, found)
}

// newList makes a page of the rows that were read for it.
func newList(ctx context.Context, q db.Querier, viewerID uuid.UUID, n page.Number, found []*row) (*PostList, error) {
	shown, meta := page.Cut(n, found)
	cards, err := newCards(ctx, q, viewerID, shown)
	if err != nil {
		return nil, err
	}
	return &PostList{Posts: cards, Meta: meta}, nil
}

func read(ctx context.Context, q db.Querier, query string, args ...any) ([]*row, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []*row
	for rows.Next() {
		r := new(row)
		if err := rows.Scan(r.targets()...); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

// newCards makes the cards of posts as an agent sees them; the files of all are read in one statement.
func newCards(ctx context.Context, q db.Querier, viewerID uuid.UUID, of []*row) ([]*Card, error) {
	var targets []attachments.Target
	for _, r := range of {
		if r.files {
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
			ID: r.ID, Author: r.author.Card(), Kind: string(r.Kind), Visibility: string(r.Visibility),
			Title: r.Title, Text: r.Text, Attachments: append([]*attachments.Card{}, files[target(r.ID)]...),
			CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		}
	}
	return cards, nil
}
