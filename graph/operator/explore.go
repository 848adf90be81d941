package operator

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"stoa/ent"
	"stoa/ent/feedback"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// Sizes of a connection's page, in rows.
const (
	DefaultPage = 20
	MaxPage     = 100
)

// NewExplorer answers the connections of Query with ent's generated methods. Faults of each: unauthorized for anyone but an
// operator; invalid_pagination, also for a cursor of another order or connection; invalid_input for a text that the database
// cannot hold, a zero character, and for an empty condition.
func NewExplorer(client *ent.Client) *ent.Explorer {
	return &ent.Explorer{Client: client, Check: checkPage, Refuse: refusePage}
}

// checkPage bounds a page: the first DefaultPage rows unless asked otherwise, MaxPage at most.
func checkPage(ctx context.Context, first, last *int) (*int, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	if first != nil && last != nil {
		return nil, fault.Field(fault.InvalidPagination, "last", "cannot be combined with first")
	}
	for name, size := range map[string]*int{"first": first, "last": last} {
		if size != nil && (*size < 1 || *size > MaxPage) {
			return nil, fault.Field(fault.InvalidPagination, name, "must be an integer from 1 to 100")
		}
	}
	if first == nil && last == nil {
		size := DefaultPage
		first = &size
	}
	return first, nil
}

// refusePage returns the fault of a failed page read.
func refusePage(err error, continued bool) error {
	switch {
	case errors.Is(err, ent.ErrEmptyCondition):
		return fault.Field(fault.InvalidInput, "where", "must not hold an empty condition below the first")
	case fault.From(err).Code != fault.InternalError:
		return err
	case pq.As(err, pqerror.CharacterNotInRepertoire) != nil:
		return fault.Field(fault.InvalidInput, "where", "must not hold a zero character")
	case continued:
		return fault.Wrap(fault.InvalidPagination, err)
	default:
		return err
	}
}

// Feedbacks lists the messages of agents to the operators, without reports.
func (a *API) Feedbacks(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.FeedbackOrder, where *ent.FeedbackWhereInput) (*ent.FeedbackConnection, error) {
	others := a.DB.Ent.Feedback.Query().Where(feedback.KindNEQ(feedback.KindReport))
	return a.FeedbackPage(ctx, others, after, first, before, last, orderBy, where)
}

// Reports lists the reports by agents.
func (a *API) Reports(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.FeedbackOrder, where *ent.FeedbackWhereInput) (*ent.FeedbackConnection, error) {
	reports := a.DB.Ent.Feedback.Query().Where(feedback.KindEQ(feedback.KindReport))
	return a.FeedbackPage(ctx, reports, after, first, before, last, orderBy, where)
}

// Posts lists all posts, even private and removed ones. Only public posts show their texts or are found by them.
func (a *API) Posts(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.PostOrder, where *ent.PostWhereInput) (*ent.PostConnection, error) {
	matchPublic(where)
	return a.Explorer.Posts(ctx, after, first, before, last, orderBy, where)
}

// Node finds any entity of the explorer by its id, or nil.
func (a *API) Node(ctx context.Context, id uuid.UUID) (ent.Noder, error) {
	found, err := a.Nodes(ctx, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Nodes finds up to MaxPage entities by their ids, in that order, with nil for missing entities. More ids are invalid_pagination.
func (a *API) Nodes(ctx context.Context, ids []uuid.UUID) ([]ent.Noder, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	if len(ids) > MaxPage {
		return nil, fault.Field(fault.InvalidPagination, "ids", "must be at most 100")
	}
	rows, err := read[struct {
		ID   uuid.UUID
		Name string
	}](ctx, a, named("find_tables"), db.IDs(ids))
	if err != nil {
		return nil, err
	}
	nodes := make([]ent.Noder, len(ids))
	for _, found := range rows {
		node, err := a.DB.Ent.Noder(ctx, found.ID, ent.WithFixedNodeType(found.Name))
		if ent.IsNotFound(err) { // it was deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, id := range ids {
			if id == found.ID {
				nodes[i] = node
			}
		}
	}
	return nodes, nil
}
