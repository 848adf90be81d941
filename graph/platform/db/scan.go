package db

import (
	"context"
	"database/sql"
	"reflect"
	"slices"
	"strings"
	"sync"

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

// Targets returns where the columns of a row go if they come in the order of the fields of its struct: pointers to the fields that have
// the tag `db`, and in place of a struct with such fields, or an embedded one, to those. row is a pointer to a struct.
func Targets(row any) []any {
	value := reflect.ValueOf(row).Elem()
	paths := pathsOf(value.Type())
	all := make([]any, len(paths))
	for i, path := range paths {
		all[i] = value.FieldByIndex(path).Addr().Interface()
	}
	return all
}

// known holds the paths of the types that Targets has met. Finding them anew for each row took a seventh of the feed's time.
var known sync.Map

// pathsOf returns the paths of a struct's fields that Targets points to.
func pathsOf(t reflect.Type) [][]int {
	kept, _ := known.Load(t)
	if paths, ok := kept.([][]int); ok {
		return paths
	}
	var paths [][]int
	for field := range t.Fields() {
		switch _, tagged := field.Tag.Lookup("db"); {
		case field.Anonymous, tagged && hasTags(field.Type):
			for _, below := range pathsOf(field.Type) {
				paths = append(paths, slices.Concat(field.Index, below))
			}
		case tagged:
			paths = append(paths, field.Index)
		}
	}
	known.Store(t, paths)
	return paths
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
