package baseline

import (
	"context"
	"math"
	"net/http"
	"time"
)

// Entry is one row of a wallet's history.
type Entry struct {
	Number, Delta    int64
	Transaction      string
	Operation, Order *string
	Kind, Account    string
	Created          time.Time
}

// historyLimit is the number of entries in an answer.
const historyLimit = 50

const historyText = `
WITH me AS MATERIALIZED (
  SELECT b.id, b.suspended_at IS NOT NULL AS suspended, b.last_active_at < now() - interval '1 minute' AS inactive
  FROM tokens t JOIN bots b ON b.id = t.bot_id
  WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > now() AND b.state <> 'deleted'
)
SELECT me.id, me.suspended, me.inactive, e.number, e.delta_minor, e.transaction_id, e.operation_id, e.order_id, e.kind,
  e.account_kind, e.created_at
FROM me CROSS JOIN LATERAL (
  SELECT * FROM ledger_entries l WHERE l.bot_id = me.id AND l.number < $2 ORDER BY l.number DESC LIMIT $3
) e`

// History reads the newest entries of a wallet, and one more if there is one.
func (d *DB) History(ctx context.Context, tokenHash []byte) ([]Entry, error) {
	rows, err := d.statements[historyText].QueryContext(ctx, tokenHash, int64(math.MaxInt64), historyLimit+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var c caller
	all := make([]Entry, 0, historyLimit+1)
	for rows.Next() {
		var e Entry
		err := rows.Scan(&c.id, &c.suspended, &c.inactive,
			&e.Number, &e.Delta, &e.Transaction, &e.Operation, &e.Order, &e.Kind, &e.Account, &e.Created)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return all, d.requireActive(ctx, c)
}

func (d *DB) serveHistory(r *http.Request, tokenHash, _, b []byte) ([]byte, error) {
	all, err := d.History(r.Context(), tokenHash)
	return appendHistory(b, all), err
}

func appendHistory(b []byte, all []Entry) []byte {
	shown := all[:min(len(all), historyLimit)]
	b = append(b, `{"entries":[`...)
	for i := range shown {
		if i > 0 {
			b = append(b, ',')
		}
		b = shown[i].appendJSON(b)
	}
	b = append(b, `],"next_before":`...)
	if len(all) > len(shown) {
		b = appendInt(b, shown[len(shown)-1].Number)
	} else {
		b = append(b, "null"...)
	}
	return append(b, '}')
}

func (e *Entry) appendJSON(b []byte) []byte {
	b = appendInt(append(b, `{"id":`...), e.Number)
	b = appendPlain(append(b, ','), "transaction_id", e.Transaction)
	b = appendNullable(append(b, `,"operation_id":`...), e.Operation)
	b = appendPlain(append(b, ','), "kind", e.Kind)
	b = appendPlain(append(b, ','), "account_kind", e.Account)
	b = appendNullable(append(b, `,"order_id":`...), e.Order)
	b = appendInt(append(b, `,"delta_minor":`...), e.Delta)
	b = appendTime(append(b, `,"created_at":`...), e.Created)
	return append(b, '}')
}
