package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// lock reads the task $2 for the caller $1 and keeps it from changing until the transaction ends. What it sees besides the task it
// may have seen before it waited, so responses are read after it; and a clock that was read earlier must not turn time back.
var lock = `
SELECT ` + columns + `, greatest(stoa_now(), t.updated_at), coalesce(stoa_active(m) AND stoa_active(c), false), ` + visible + `
FROM tasks t` + joined + ` WHERE t.id = $2 FOR UPDATE OF t`

// locked returns a task as the caller stands to it, of responses not told anything, and whether it exists for anyone.
func locked(ctx context.Context, tx *db.Tx, caller, id uuid.UUID) (s *situation, shown bool, err error) {
	s = &situation{caller: &caller, payable: true}
	err = tx.SQL.QueryRowContext(ctx, lock, caller, id).Scan(append(s.taskTargets(), &s.now, &s.active, &shown)...)
	return s, shown, err
}
