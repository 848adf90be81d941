package db

import (
	"context"
	"database/sql"
	"reflect"
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

// All runs a statement and returns its rows.
func All[T any](ctx context.Context, q Querier, s *Statement, args ...any) ([]*T, error) {
	rows, err := q.QueryContext(ctx, s.Text, args...)
	if err != nil {
		return nil, err
	}
	var all []*T
	if err := each(rows, Into(&all)); err != nil {
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
	rows, err := q.QueryContext(ctx, s.Text, args...)
	if err != nil {
		return nil, err
	}
	var all []T
	if err := each(rows, func(rows *sql.Rows) error {
		all = append(all, *new(T))
		return rows.Scan(&all[len(all)-1])
	}); err != nil {
		return nil, err
	}
	return all, nil
}

// Targets returns where the columns of a row go if they come in the order of the fields of its struct: pointers to the fields that have
// the tag `db`, and in place of a struct with such fields, or an embedded one, to those. row is a pointer to a struct.
func Targets(row any) []any { return targets(reflect.ValueOf(row).Elem(), nil) }

func targets(row reflect.Value, all []any) []any {
	for i := range row.NumField() {
		field, kind := row.Field(i), row.Type().Field(i)
		switch _, tagged := kind.Tag.Lookup("db"); {
		case kind.Anonymous, tagged && hasTags(kind.Type):
			all = targets(field, all)
		case tagged:
			all = append(all, field.Addr().Interface())
		}
	}
	return all
}

func hasTags(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for field := range t.Fields() {
		if _, tagged := field.Tag.Lookup("db"); tagged {
			return true
		}
	}
	return false
}
