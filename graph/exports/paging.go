package exports

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

// pageSize is how many records are read at once.
const pageSize = 100

// write writes a member.
type write = func(ctx context.Context, a *API, m *making) error

// one writes a member that is one record.
func one(read func(ctx context.Context, a *API, agent uuid.UUID) (any, error)) write {
	return func(ctx context.Context, a *API, m *making) error {
		record, err := read(ctx, a, m.export.BotID)
		if err != nil {
			return err
		}
		return m.add("", record)
	}
}

// each calls do for each record until it fails.
func each[T any](records []T, do func(T) error) error {
	for _, r := range records {
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// rows writes the few rows of a statement about an agent.
func rows[T any](s *db.Statement) write {
	return func(ctx context.Context, a *API, m *making) error {
		found, err := db.All[T](ctx, a.DB.SQL, s, m.export.BotID)
		if err != nil {
			return err
		}
		return each(found, func(r *T) error { return m.add("", r) })
	}
}

// newestFirst writes a list that is read newest first; each page begins behind the last record of the previous page.
func newestFirst[List, Record, ID any](
	read func(ctx context.Context, a *API, before page.Param) (*List, error), of func(*List) ([]Record, *ID), add func(*making, Record) error,
) write {
	return func(ctx context.Context, a *API, m *making) error {
		for before := (page.Param)(nil); ; {
			list, err := read(ctx, a, before)
			if err != nil {
				return err
			}
			records, next := of(list)
			if err := each(records, func(r Record) error { return add(m, r) }); err != nil || next == nil {
				return err
			}
			before = page.Param{fmt.Sprint(*next)}
		}
	}
}

// lister lists an agent's records in the order of their ids, after an id.
type lister[Record any] func(ctx context.Context, agent, after uuid.UUID, limit int) ([]Record, error)

// eachPage calls do for each record of a list in the order of ids.
func eachPage[Record any](
	ctx context.Context, agent uuid.UUID, list lister[Record], id func(Record) uuid.UUID, do func(Record) error,
) error {
	for after := uuid.Nil; ; {
		found, err := list(ctx, agent, after, pageSize)
		if err != nil {
			return err
		}
		if err := each(found, do); err != nil || len(found) < pageSize {
			return err
		}
		after = id(found[len(found)-1])
	}
}

// byID writes a list in the order of ids.
func byID[Record any](list func(*API) lister[Record], id func(Record) uuid.UUID) write {
	return func(ctx context.Context, a *API, m *making) error {
		return eachPage(ctx, m.export.BotID, list(a), id, func(r Record) error { return m.add(id(r), r) })
	}
}

// eachID calls do for every id that a statement lists.
func eachID(ctx context.Context, a *API, m *making, s *db.Statement, do func(uuid.UUID) error) error {
	list := func(ctx context.Context, agent, after uuid.UUID, limit int) ([]uuid.UUID, error) {
		return db.Column[uuid.UUID](ctx, a.DB.SQL, s, agent, after, limit)
	}
	return eachPage(ctx, m.export.BotID, list, func(id uuid.UUID) uuid.UUID { return id }, do)
}

// ofEach writes the records whose ids a statement lists. A record that was deleted meanwhile is left out.
func ofEach(s *db.Statement, read func(ctx context.Context, a *API, id string) (any, error)) write {
	return func(ctx context.Context, a *API, m *making) error {
		return eachID(ctx, a, m, s, func(id uuid.UUID) error {
			record, err := read(ctx, a, id.String())
			if gone(err) {
				return nil
			}
			if err != nil {
				return err
			}
			return m.add(id, record)
		})
	}
}

// gone reports whether a record was deleted since its id was read.
func gone(err error) bool {
	return errors.Is(err, sql.ErrNoRows) || fault.CodeOf(err) == fault.NotFound
}
