package exports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// making is one attempt to make an archive.
type making struct {
	export  *row
	archive *archive
	// line writes a record of the current member; last is the id of the last written record.
	line func(record any) error
	last string
}

// add writes a record and remembers its id, so that a full archive can name the place at which it ended.
func (m *making) add(id, record any) error {
	if err := m.line(record); err != nil {
		return err
	}
	m.last = fmt.Sprint(id)
	return nil
}

// Make makes the archive of an export, unless the archive exists or is no longer wanted. It may be repeated and run concurrently:
// the first result is kept. Only a job calls it.
func (a *API) Make(ctx context.Context, exportID uuid.UUID) error {
	export, err := db.Find[row](ctx, a.DB.SQL, named("select_export"), exportID)
	if err != nil || export == nil || export.State != pending {
		return err
	}
	others, err := db.Column[int64](ctx, a.DB.SQL, named("other_bytes"), exportID)
	if err != nil {
		return err
	}
	room := cmp.Or(a.MaxBytes, maxBytes)
	if all := int64(a.Quotas.ExportBytes); all > 0 {
		room = min(room, max(all-others[0], 0))
	}
	m := &making{export: export}
	if m.archive, err = newArchive(ctx, a.Files.Store, exportID, room); err != nil {
		return err
	}
	defer m.archive.abandon()
	as := viewer.With(ctx, viewer.Viewer{Kind: viewer.Agent, BotID: export.BotID})
	truncated, err := a.writeMembers(as, m)
	if err != nil {
		return err
	}
	if err := a.writeManifest(as, m, truncated); err != nil {
		return err
	}
	if err := m.archive.close(); err != nil {
		return err
	}
	kept, err := a.publish(ctx, m, truncated)
	if err != nil || kept {
		return err
	}
	return a.Files.Store.DeletePrefix(ctx, m.archive.key)
}

// writeMembers writes the members of the table, until the archive is full.
func (a *API) writeMembers(ctx context.Context, m *making) (*Truncated, error) {
	if err := m.archive.whole("README.txt", []byte(readme)); err != nil {
		return nil, err
	}
	for _, of := range members {
		if (of.who == ownerOnly && !m.export.ByOwner) || (of.who == agentOnly && m.export.ByOwner) {
			continue
		}
		m.last = ""
		if err := a.writeMember(ctx, m, of); errors.Is(err, errFull) {
			cut := &Truncated{Member: strings.TrimSuffix(of.name, path.Ext(of.name))}
			if m.last != "" {
				cut.Before = &m.last
			}
			return cut, nil
		} else if err != nil {
			return nil, err
		}
	}
	return nil, nil //nolint:nilnil // the archive is complete
}

// writeMember writes one row of the table: a member of lines, or all that the row writes itself.
func (a *API) writeMember(ctx context.Context, m *making, of member) error {
	if !strings.HasPrefix(path.Ext(of.name), ".json") {
		return of.write(ctx, a, m)
	}
	return m.archive.lines(of.name, func(line func(any) error) error {
		m.line = line
		return of.write(ctx, a, m)
	})
}

// publish stores an archive as the result of its export, notifies the agent, and reports whether it did.
func (a *API) publish(ctx context.Context, m *making, truncated *Truncated) (kept bool, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		done, err := db.Column[uuid.UUID](ctx, tx.SQL, named("finish_export"), m.export.ID, truncated, m.archive.written.size)
		if kept = len(done) > 0; err != nil || !kept {
			return err
		}
		err = db.Exec(ctx, tx.SQL, named("insert_part"), m.export.ID, 1, m.archive.key, m.archive.written.size, m.archive.sum.Sum(nil))
		if err != nil {
			return err
		}
		if m.export.ByOwner { // its owner watches the page, and the agent cannot read it
			return nil
		}
		return a.Events.Add(ctx, tx, events.Event{
			Recipient: m.export.BotID, Kind: events.ExportReady, Payload: events.ExportPayload{ExportID: m.export.ID},
		})
	})
	return kept, err
}

const (
	// stuckAfter is the age at which a pending export has failed, because its job has no attempts left.
	stuckAfter = 6 * time.Hour
	// Retention is how long the record of an export is kept, without its bytes.
	Retention = 90 * 24 * time.Hour
	// sweepBatch is the number of exports that one statement finds.
	sweepBatch = 100
)

// Sweep deletes the bytes of expired and failed exports, and returns their number. A job calls it.
func (a *API) Sweep(ctx context.Context) (n int64, err error) {
	if err := db.Exec(ctx, a.DB.SQL, named("fail_stuck"), stuckAfter.Seconds()); err != nil {
		return 0, err
	}
	for {
		found, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("unswept"), sweepBatch)
		if err != nil || len(found) == 0 {
			return n, err
		}
		for _, id := range found {
			if err := a.Files.Store.DeletePrefix(ctx, prefixOf(id)); err != nil {
				return n, err
			}
			if err := db.Exec(ctx, a.DB.SQL, named("note_swept"), id); err != nil {
				return n, err
			}
			n++
		}
	}
}

// DeleteOld deletes the records that are past Retention and returns how many. A job calls it.
func (a *API) DeleteOld(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, named("delete_old"), sweepBatch, Retention.Seconds())
}
