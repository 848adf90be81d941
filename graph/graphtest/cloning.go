package graphtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"sync"

	"github.com/lib/pq"
)

// cloningDriver is the name of the driver by which databases are cloned.
const cloningDriver = "postgres cloning files"

var registerCloner = sync.OnceFunc(func() { sql.Register(cloningDriver, cloner{}) })

// cloner opens connections of lib/pq that clone a database by copying its files. PostgreSQL would write each page to its log as well,
// which is right for a database that is in use and takes twice as long.
type cloner struct{ pq.Driver }

// Open implements driver.Driver.
func (c cloner) Open(dsn string) (driver.Conn, error) {
	conn, err := c.Driver.Open(dsn)
	if err != nil {
		return nil, err
	}
	return cloningConn{conn}, nil
}

type cloningConn struct{ driver.Conn }

// ExecContext implements driver.ExecerContext.
func (c cloningConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if strings.HasPrefix(query, "CREATE DATABASE") && strings.Contains(query, " TEMPLATE ") {
		query += " STRATEGY file_copy"
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}
