package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/document"
	"stoa/ent/setting"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// PublishDocument puts a version of a document in force and withdraws the previous one (§4.1). A version never changes: owners
// confirmed it by the hash of its text. Faults: invalid_input, also for a version of this key that was published before.
func (a *API) PublishDocument(ctx context.Context, in DocumentInput, reason string) (*ent.Document, error) {
	in, wrong := in.check()
	id, sum := uuid.Must(uuid.NewV7()), sha256.Sum256([]byte(in.Text))
	hash := hex.EncodeToString(sum[:])
	details := map[string]any{"key": in.Key, "title": in.Title, "version": in.Version, "url": in.URL, "sha256": hash}
	e := entry{publishDocument, id.String(), reason, details, wrong, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*ent.Document, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		// Publications run one after another: each sees the version in force.
		if _, err := tx.Ent.Setting.Query().Where(setting.ID(settingsID)).ForUpdate().Only(ctx); err != nil {
			return nil, err
		}
		err = tx.Ent.Document.Update().Where(document.Key(in.Key), document.WithdrawnAtIsNil()).SetWithdrawnAt(now).Exec(ctx)
		if err != nil {
			return nil, err
		}
		made, err := tx.Ent.Document.Create().SetID(id).SetKey(in.Key).SetTitle(in.Title).SetVersion(in.Version).SetURL(in.URL).
			SetText(in.Text).SetSha256(hash).SetCreatedAt(now).Save(ctx)
		if db.Violates(err, "document_key_version") {
			return nil, fault.Field(fault.InvalidInput, "version", "was published before; a published version never changes")
		}
		return made, err
	})
}

// WithdrawDocument withdraws a version of a document without a successor. A repeat keeps the first time. Faults: not_found.
func (a *API) WithdrawDocument(ctx context.Context, id uuid.UUID, reason string) (*ent.Document, error) {
	e := entry{withdrawDocument, id.String(), reason, nil, nil, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx *db.Tx) (*ent.Document, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		found, err := tx.Ent.Document.Query().Where(document.ID(id)).ForUpdate().Only(ctx)
		if err != nil || found.WithdrawnAt != nil {
			return found, err
		}
		return found.Update().SetWithdrawnAt(now).Save(ctx)
	})
}
