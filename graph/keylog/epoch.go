package keylog

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/platform/db"
)

// copied is how many entries NewEpoch copies at a time.
const copied = 16 * tileWidth

// NewEpoch ends the present epoch and begins the next one, whose first entry names the former origin and root; the former
// entries follow in their order, and then what waits in the queue. signed is the greatest head that was signed, nil if that is
// unknown: the new epoch follows its, too, and the reason names the loss. It returns the new head, or nil if the log has not
// begun. Only operators' commands call it, on a pool whose statements may take long.
func NewEpoch(ctx context.Context, q db.Querier, signed *Head, reason string) (*Head, error) {
	present, err := db.All[Head](ctx, q, named("wait_for_head"))
	if err != nil || len(present) == 0 {
		return nil, err
	}
	former := *present[0]
	host, _ := hostOf(former.Origin)
	next := Head{Epoch: former.Epoch + 1}
	if signed != nil {
		next.Epoch = max(next.Epoch, signed.Epoch+1)
		if signed.exceeds(former) {
			reason += fmt.Sprintf(" (%s was signed with %d entries, and %d are left)", signed.Origin, signed.Size, former.Size)
		}
	}
	next.Origin = origin(host, next.Epoch)
	if _, err := q.ExecContext(ctx, named("end_head").Text, former.Epoch, reason); err != nil {
		return nil, err
	}
	added, err := q.ExecContext(ctx, named("add_head").Text, next.Epoch, next.Origin)
	if err != nil {
		return nil, err
	}
	if n, err := added.RowsAffected(); err != nil || n != 1 {
		return nil, errors.Join(err, fmt.Errorf("keylog: there is an epoch %d already", next.Epoch))
	}
	tree, check := new(edge), new(edge)
	first := [][]byte{entry(typeEpoch, digest(former.Origin), former.Root)}
	for done := int64(-1); done < former.Size; {
		entries, at := first, int64(0)
		if done >= 0 {
			if entries, err = db.Column[[]byte](ctx, q, named("list_entries"), former.Epoch, done, min(done+copied, former.Size)); err != nil {
				return nil, err
			}
			if len(entries) == 0 {
				break
			}
			at = done + 1
			for _, raw := range entries {
				check.append(raw)
			}
		}
		for _, raw := range entries {
			tree.append(raw)
		}
		if err := tree.write(ctx, q, next.Epoch, at, entries); err != nil {
			return nil, err
		}
		done += int64(len(entries))
	}
	if check.size != former.Size || former.Size > 0 && check.root() != tlog.Hash(former.Root) {
		return nil, fmt.Errorf("keylog: %w: %s", errDiffers, former.Origin)
	}
	if _, err := q.ExecContext(ctx, named("move_openings").Text); err != nil {
		return nil, err
	}
	root := tree.root()
	next.Size, next.Root = tree.size, root[:]
	return &next, nil
}
