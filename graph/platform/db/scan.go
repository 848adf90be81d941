package db

import (
	"context"
	"database/sql"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
)

// fields finds the field of a struct that a column goes to: the one with its name in the tag `db`.
var fields = reflectx.NewMapperFunc("db", strings.ToLower)

// Into returns a function that scans each row of a result into a new T and appends it to all. Every column needs a field with its
// name in the tag `db`; the fields of embedded structs count.
func Into[T any](all *[]*T) func(*sql.Rows) error {
	var rows *sqlx.Rows
	return func(r *sql.Rows) error {
		if rows == nil {
			rows = &sqlx.Rows{Rows: r, Mapper: fields}
		}
		row := new(T)
		*all = append(*all, row)
		return rows.StructScan(row)
	}
}

// Each runs a statement and calls scan with each row of the result.
func Each(ctx context.Context, q Querier, scan func(*sql.Rows) error, s *Statement, args ...any) error {
	rows, err := q.QueryContext(ctx, s.Text, args...)
	if err != nil {
		return err
	}
	return each(rows, scan)
}

// All runs a statement and returns its rows.
func All[T any](ctx context.Context, q Querier, s *Statement, args ...any) ([]*T, error) {
	var all []*T
	if err := Each(ctx, q, Into(&all), s, args...); err != nil {
		return nil, err
	}
	return all, nil
}

// One runs a statement that has at most one row and returns it, or sql.ErrNoRows.
func One[T any](ctx context.Context, q Querier, s *Statement, args ...any) (*T, error) {
	all, err := All[T](ctx, q, s, args...)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, sql.ErrNoRows
	}
	return all[0], nil
}

// Column runs a statement that has one column and returns its values.
func Column[T any](ctx context.Context, q Querier, s *Statement, args ...any) ([]T, error) {
	var all []T
	if err := Each(ctx, q, func(rows *sql.Rows) error {
		all = append(all, *new(T))
		return rows.Scan(&all[len(all)-1])
	}, s, args...); err != nil {
		return nil, err
	}
	return all, nil
}
