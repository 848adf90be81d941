package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// IDs passes ids as one argument of type uuid[].
func IDs(ids []uuid.UUID) driver.Valuer {
	texts := make(pq.StringArray, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}

// wordBreak matches the beginning of the next word in a camel-case name.
var wordBreak = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// known holds the result of columnsOf by type.
var known sync.Map

// columnsOf returns the place of the field of each column that a struct can hold.
func columnsOf(of reflect.Type) map[string][]int {
	columns, found := known.Load(of)
	if !found {
		made := make(map[string][]int)
		addColumns(made, of, "", nil)
		columns, _ = known.LoadOrStore(of, made)
	}
	return columns.(map[string][]int) //nolint:forcetypeassert // known holds nothing else
}

// addColumns adds the fields of a struct, and of the structs in it. A field hides one of the same name in an embedded struct.
func addColumns(columns map[string][]int, of reflect.Type, prefix string, at []int) {
	for i := range of.NumField() {
		field, at := of.Field(i), append(slices.Clip(at), i)
		name, tagged := field.Tag.Lookup("db")
		switch {
		case name == "-", !field.IsExported() && !field.Anonymous:
			continue
		case !tagged && field.Anonymous && field.Type.Kind() == reflect.Struct:
			addColumns(columns, field.Type, prefix, at)
			continue
		case !tagged:
			name = strings.ToLower(wordBreak.ReplaceAllString(field.Name, "${1}_$2"))
		}
		if hidden, ok := columns[prefix+name]; !ok || len(at) < len(hidden) {
			columns[prefix+name] = at
		}
		if field.Type.Kind() == reflect.Struct {
			addColumns(columns, field.Type, prefix+name+".", at)
		}
	}
}

// Querier runs statements: DB.SQL outside a transaction, Tx.SQL inside one.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Each runs a statement and calls scan with each row of the result.
func Each(ctx context.Context, q Querier, scan func(*sql.Rows) error, s *Statement, args ...any) error {
	rows, err := q.QueryContext(ctx, s.Text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Exec runs a statement that has no result.
func Exec(ctx context.Context, q Querier, s *Statement, args ...any) error {
	_, err := Changed(ctx, q, s, args...)
	return err
}

// Changed runs a statement and returns the number of rows that it changed.
func Changed(ctx context.Context, q Querier, s *Statement, args ...any) (int64, error) {
	result, err := q.ExecContext(ctx, s.Text, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// ExecBatches repeats a statement, with batch as its last argument, until it changes fewer rows than batch, and returns the
// number of changed rows. Each run has its own transaction, so a sweep over many rows does not exceed statement_timeout and can
// be stopped at any time.
func (d *DB) ExecBatches(ctx context.Context, s *Statement, batch int64, args ...any) (changed int64, err error) {
	for args = append(args, batch); ; {
		n, err := Changed(ctx, d.SQL, s, args...)
		changed += n
		if err != nil || n < batch {
			return changed, err
		}
	}
}

// Walk runs a statement over a whole table, batch by batch in the order of ids, and returns the number of changed rows. The
// statement gets the last id of the batch before as its first argument, and returns its own last_id, null at the end, and how
// many rows it changed. Each run has its own transaction, so a walk can be stopped at any time.
func (d *DB) Walk(ctx context.Context, s *Statement, args ...any) (changed int64, err error) {
	for last := uuid.Nil; ; {
		batch, err := One[struct {
			LastID  uuid.NullUUID
			Changed int64
		}](ctx, d.SQL, s, append([]any{last}, args...)...)
		if err != nil || !batch.LastID.Valid {
			return changed, err
		}
		changed, last = changed+batch.Changed, batch.LastID.UUID
	}
}

// All runs a statement and scans each row of the result into a new T. Every column needs a field: with its name in the tag `db`,
// or AmountMinor for amount_minor. The fields of embedded structs count, and author.id is the field ID of the field Author. A slice
// of texts or integers takes an array.
func All[T any](ctx context.Context, q Querier, s *Statement, args ...any) (all []*T, err error) {
	var places [][]int // of the columns
	err = Each(ctx, q, func(rows *sql.Rows) error {
		if places == nil {
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			for _, column := range columns {
				place, ok := columnsOf(reflect.TypeFor[T]())[column]
				if !ok {
					return fmt.Errorf("the column %s has no field in %T", column, *new(T))
				}
				places = append(places, place)
			}
		}
		one, to := new(T), make([]any, len(places))
		for i, place := range places {
			field := reflect.ValueOf(one).Elem().FieldByIndex(place)
			switch to[i] = field.Addr().Interface(); field.Type() {
			case reflect.TypeFor[[]int64]():
				to[i] = pq.Array(to[i])
			default:
				if _, scans := to[i].(sql.Scanner); !scans && field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.String {
					to[i] = texts{field}
				}
			}
		}
		all = append(all, one)
		return rows.Scan(to...)
	}, s, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// texts is a slice of texts, of any type, that takes an array.
type texts struct{ field reflect.Value }

// Scan implements sql.Scanner.
func (t texts) Scan(src any) error {
	var all pq.StringArray
	err := all.Scan(src)
	t.field.Set(reflect.MakeSlice(t.field.Type(), len(all), len(all)))
	for i, text := range all {
		t.field.Index(i).SetString(text)
	}
	return err
}

// One runs a statement that has at most one row and returns it, or sql.ErrNoRows.
func One[T any](ctx context.Context, q Querier, s *Statement, args ...any) (*T, error) {
	found, err := Find[T](ctx, q, s, args...)
	if err == nil && found == nil {
		err = sql.ErrNoRows
	}
	return found, err
}

// Find runs a statement that has at most one row and returns it, or nil.
func Find[T any](ctx context.Context, q Querier, s *Statement, args ...any) (*T, error) {
	all, err := All[T](ctx, q, s, args...)
	if err != nil || len(all) == 0 {
		return nil, err
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

// Value runs a statement that has one column and at most one row, and returns its value or sql.ErrNoRows.
func Value[T any](ctx context.Context, q Querier, s *Statement, args ...any) (value T, err error) {
	all, err := Column[T](ctx, q, s, args...)
	if err == nil && len(all) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return value, err
	}
	return all[0], nil
}
