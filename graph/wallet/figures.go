package wallet

import (
	"context"
	"database/sql"
	"encoding/json"

	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
)

// checkResult holds, as JSON, the findings of the last check of a scope, or the findings so far of a running check.
type checkResult struct {
	Scope     Scope             `db:"scope"`
	Ended     sql.Null[float64] `db:"ended"`
	LastFound []byte            `db:"last_found"`
	Found     []byte            `db:"found"`
	Running   bool              `db:"running"`
}

// Metrics returns for /metrics the findings of the last checks of both scopes by any process, and the findings so far of a
// running check. It does not check the caller.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	results, err := db.All[checkResult](ctx, a.DB.SQL, named("read_results"))
	if err != nil {
		return nil, err
	}
	counted := make(map[Check]int)
	var (
		all    []metrics.Value
		looked bool
	)
	for _, r := range results {
		for _, raw := range [][]byte{r.LastFound, r.Found} {
			f := newFindings()
			if err := json.Unmarshal(raw, f); err != nil {
				return nil, err
			}
			for check, n := range f.Counted {
				counted[check] = max(counted[check], n)
			}
		}
		looked = looked || r.Running || r.Ended.Valid
		if r.Ended.Valid {
			all = append(all, metrics.Value{Name: "stoa_ledger_reconciled_timestamp_seconds", Value: r.Ended.V, Labels: []string{string(r.Scope)}})
		}
	}
	if !looked {
		return nil, nil
	}
	for _, check := range Checks() {
		found := metrics.Value{Name: "stoa_ledger_discrepancies", Value: float64(counted[check]), Labels: []string{string(check)}}
		all = append(all, found)
	}
	return all, nil
}
