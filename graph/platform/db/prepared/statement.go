package prepared

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// pqStmt holds the methods of a statement that lib/pq prepared.
type pqStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// statement is prepared on one connection, in one epoch.
type statement struct {
	pqStmt
	epoch uint64
}

// cache holds a connection's statements by SQL text.
type cache struct {
	lru  *simplelru.LRU[string, statement]
	size int
}

func newCache(size int) (*cache, error) {
	// One more than the bound, so that add evicts: the evicted statement must be
	// closed, and closing can fail.
	lru, err := simplelru.NewLRU[string, statement](size+1, nil)
	if err != nil {
		return nil, fmt.Errorf("prepared: %w", err)
	}
	return &cache{lru: lru, size: size}, nil
}

func (k *cache) add(query string, st statement) error {
	k.lru.Add(query, st)
	if k.lru.Len() <= k.size {
		return nil
	}
	_, oldest, _ := k.lru.RemoveOldest()
	return closeStatement(oldest)
}

func (k *cache) drop(query string) error {
	st, ok := k.lru.Peek(query)
	if !ok {
		return nil
	}
	k.lru.Remove(query)
	return closeStatement(st)
}

// closeStatement answers driver.ErrBadConn if the server did not follow: the
// caller's statement has not run, so another connection may have it.
func closeStatement(st statement) error {
	if err := st.Close(); err != nil {
		return driver.ErrBadConn
	}
	return nil
}

// statement returns the cached statement for query, preparing it if necessary.
// reused is false for one prepared by this call.
func (c *conn) statement(ctx context.Context, query string) (st statement, reused bool, err error) {
	epoch := c.connector.epoch.Load()
	st, ok := c.cached.lru.Get(query)
	if ok && st.epoch == epoch {
		return st, true, nil
	}
	if err := c.cached.drop(query); err != nil {
		return statement{}, false, err
	}
	inner, err := c.pqConn.PrepareContext(ctx, query)
	if err != nil {
		return statement{}, false, err
	}
	if err := ctx.Err(); err != nil {
		// lib/pq has given the connection up and would now call it bad.
		c.tainted = true
		return statement{}, false, err
	}
	stmt, err := as[pqStmt](inner)
	if err != nil {
		return statement{}, false, err
	}
	st = statement{pqStmt: stmt, epoch: epoch}
	return st, false, c.cached.add(query, st)
}
