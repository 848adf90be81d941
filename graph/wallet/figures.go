package wallet

import (
	"context"
	"database/sql"
	"encoding/json"

	"stoa/graph/platform/metrics"
)

const results = `SELECT scope, extract(epoch FROM last_ended_at)::float8, last_found, found, began_at IS NOT NULL FROM ledger_checks`

// LedgerFigures are what the last checks of both scopes found, whichever process ran them, and what one that still runs has found so
// far; for /metrics. It checks no caller.
func (a *API) LedgerFigures(ctx context.Context) ([]metrics.Value, error) {
	rows, err := a.DB.SQL.QueryContext(ctx, results)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counted := make(map[Check]int)
	var (
		all    []metrics.Value
		looked bool
	)
	for rows.Next() {
		var (
			scope   string
			ended   sql.Null[float64]
			found   [2][]byte
			running bool
		)
		if err := rows.Scan(&scope, &ended, &found[0], &found[1], &running); err != nil {
			return nil, err
		}
		for _, raw := range found {
			f := newFindings()
			if err := json.Unmarshal(raw, f); err != nil {
				return nil, err
			}
			for check, n := range f.Counted {
				counted[check] = max(counted[check], n)
			}
		}
		looked = looked || running || ended.Valid
		if ended.Valid {
			all = append(all, metrics.Value{Row: metrics.LedgerReconciled, Value: ended.V, Labels: []string{scope}})
		}
	}
	if !looked {
		return nil, rows.Err()
	}
	for _, check := range Checks() {
		all = append(all, metrics.Value{Row: metrics.LedgerDiscrepancies, Value: float64(counted[check]), Labels: []string{string(check)}})
	}
	return all, rows.Err()
}
