package db

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// Querier runs statements: DB.SQL outside a transaction, Tx.SQL inside one.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// IDs passes ids as one argument of type uuid[].
func IDs(ids []uuid.UUID) driver.Valuer {
	texts := make(pq.StringArray, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}
