package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/lib/pq"

	"stoa/graph/platform/fault"
)

// primary connects to a server that takes writes. If no server does, the fault is service_unavailable.
type primary struct{ driver.Connector }

// standbyErrors are those of target_session_attrs; lib/pq gives them no type.
var standbyErrors = []string{"server is in hot standby mode", "session is read-only"}

// Connect implements driver.Connector.
func (p primary) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := p.Connector.Connect(ctx)
	if err == nil {
		return conn, nil
	}
	for _, text := range standbyErrors {
		if strings.Contains(err.Error(), text) {
			return nil, fault.Wrap(fault.ServiceUnavailable, err)
		}
	}
	return nil, err
}

// OpenPlain makes a pool whose statements may take as long as they like, for migrations and backups. It connects lazily.
func OpenPlain(url string) (*sql.DB, error) {
	dsn, err := ConnectionURL(url)
	if err != nil {
		return nil, err
	}
	connector, err := pq.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	return sql.OpenDB(primary{connector}), nil
}
