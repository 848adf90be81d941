package exports

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

// one writes a member that is one record.
func one(m *making, read func() (any, error)) error {
	record, err := read()
	if err != nil {
		return err
	}
	return m.add("", record)
}

// records writes the few rows of a statement about an agent.
func records[T any](ctx context.Context, a *API, m *making, s *db.Statement) error {
	found, err := db.All[T](ctx, a.DB.SQL, s, m.export.BotID)
	for _, r := range found {
		if err := m.add("", r); err != nil {
			return err
		}
	}
	return err
}

// cursor writes a cursor list, newest first.
func cursor[T any](m *making, read func(before page.Param) ([]T, *uuid.UUID, error), id func(T) string) error {
	for before := (page.Param)(nil); ; {
		found, next, err := read(before)
		if err != nil {
			return err
		}
		for _, r := range found {
			if err := m.add(id(r), r); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		before = page.Param{next.String()}
	}
}

// numbered writes a list of numbered pages, as many as may be asked for.
func numbered(read func(number page.Param) (more bool, err error)) error {
	for n := 1; ; n++ {
		more, err := read(page.Param{strconv.Itoa(n)})
		if err != nil || !more {
			return err
		}
	}
}

// keyset reads pages in the order of ids until one is not full.
func keyset(read func(after uuid.UUID) (last uuid.UUID, n int, err error)) error {
	for after := uuid.Nil; ; {
		last, n, err := read(after)
		if err != nil || n < pageSize {
			return err
		}
		after = last
	}
}

// byID writes the records whose ids a statement lists. One that is gone meanwhile is left out.
func byID(ctx context.Context, a *API, m *making, s *db.Statement, read func(id string) (any, error)) error {
	return eachID(ctx, a, m.export.BotID, s, func(id uuid.UUID) error {
		record, err := read(id.String())
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return m.add(id.String(), record)
	})
}

// eachID calls do for every id that a statement lists.
func eachID(ctx context.Context, a *API, botID uuid.UUID, s *db.Statement, do func(uuid.UUID) error) error {
	return keyset(func(after uuid.UUID) (last uuid.UUID, n int, err error) {
		found, err := db.Column[uuid.UUID](ctx, a.DB.SQL, s, botID, after, pageSize)
		if err != nil {
			return last, 0, err
		}
		for _, id := range found {
			if err := do(id); err != nil {
				return last, 0, err
			}
			last = id
		}
		return last, len(found), nil
	})
}

// gone reports whether a record was deleted since its id was read.
func gone(err error) bool {
	return errors.Is(err, sql.ErrNoRows) || (err != nil && fault.From(err).Code == fault.NotFound)
}
