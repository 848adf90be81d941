package operator

import (
	"context"
	"database/sql"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent"
	"stoa/ent/account"
	"stoa/ent/attachment"
	"stoa/ent/auditentry"
	"stoa/ent/bot"
	"stoa/ent/contact"
	"stoa/ent/document"
	"stoa/ent/event"
	"stoa/ent/feedback"
	"stoa/ent/invitation"
	"stoa/ent/ledgerentry"
	"stoa/ent/message"
	"stoa/ent/order"
	"stoa/ent/post"
	"stoa/ent/response"
	"stoa/ent/reward"
	"stoa/ent/service"
	"stoa/ent/task"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// whereabouts finds the tables of ids: an id says nothing of the entity it belongs to.
var whereabouts = func() string {
	var each []string
	for _, table := range []string{
		account.Table, attachment.Table, auditentry.Table, bot.Table, contact.Table, document.Table, event.Table, feedback.Table,
		invitation.Table, ledgerentry.Table, message.Table, order.Table, post.Table, response.Table, reward.Table, service.Table, task.Table,
	} {
		each = append(each, "SELECT id, '"+table+"' FROM "+table+" WHERE id = ANY ($1::uuid[])")
	}
	return strings.Join(each, " UNION ALL ")
}()

// Node finds any entity of the explorer by its id, or nil.
func (a *API) Node(ctx context.Context, id uuid.UUID) (ent.Noder, error) {
	found, err := a.Nodes(ctx, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Nodes finds up to MaxPage entities by their ids, in that order, with nil for each that does not exist. More ids are
// invalid_pagination.
func (a *API) Nodes(ctx context.Context, ids []uuid.UUID) ([]ent.Noder, error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return nil, err
	}
	if len(ids) > MaxPage {
		return nil, fault.Field(fault.InvalidPagination, "ids", "must be at most 100")
	}
	tables, err := a.tables(ctx, ids)
	if err != nil {
		return nil, err
	}
	nodes := make([]ent.Noder, len(ids))
	for i, id := range ids {
		table, exists := tables[id]
		if !exists {
			continue
		}
		node, err := a.DB.Ent.Noder(ctx, id, ent.WithFixedNodeType(table))
		if err != nil && !ent.IsNotFound(err) { // it may have gone since
			return nil, err
		}
		if err == nil {
			nodes[i] = node
		}
	}
	return nodes, nil
}

func (a *API) tables(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	rows, err := a.DB.SQL.QueryContext(ctx, whereabouts, pq.Array(texts))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return readTables(rows)
}

func readTables(rows *sql.Rows) (map[uuid.UUID]string, error) {
	tables := make(map[uuid.UUID]string)
	for rows.Next() {
		var (
			id    uuid.UUID
			table string
		)
		if err := rows.Scan(&id, &table); err != nil {
			return nil, err
		}
		tables[id] = table
	}
	return tables, rows.Err()
}
