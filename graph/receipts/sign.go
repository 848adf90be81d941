package receipts

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/events"
	"stoa/graph/keylog"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
)

const (
	// signBatch is how many documents one transaction signs.
	signBatch = 50
	// addBatch is the number of orders or ratings that one statement of AddMissing reads.
	addBatch = 1000
	// signTime is the usual upper bound of the time from the closing of an order to the proof of its receipt.
	signTime = 5 * time.Second
	// saltSize is the size of a leaf's salt in bytes.
	saltSize = 16
)

// commitmentPrefix precedes the salt and the document in the hash that is the document's log entry.
const commitmentPrefix = "stoa log receipt 1\n"

// noLabel is the label of all entries of documents, which cannot be found by a label.
var noLabel = make([]byte, sha256.Size)

// unsigned is a row without a signature.
type unsigned struct {
	ID        uuid.UUID `db:"id"`
	Kind      string    `db:"kind"`
	OrderID   uuid.UUID `db:"order_id"`
	CreatedAt time.Time `db:"created_at"`
	// ReceiptID is the id of the order's receipt.
	ReceiptID uuid.UUID `db:"receipt_id"`
}

// Sign makes the documents whose cause was committed, and returns their number. A document that cannot be signed does not hold up
// the others: its error is among those returned, and the next call tries it again. Sign may be repeated and interrupted at any
// time, and run in several processes at once. Only jobs call it.
func (a *API) Sign(ctx context.Context) (signed int64, err error) {
	var (
		failed []error
		passed []uuid.UUID // documents that cannot be signed
		single int         // the rest of a failed batch, each document in its own transaction
	)
	for {
		size := signBatch
		if single > 0 {
			size = 1
		}
		var due []uuid.UUID
		err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			due, err = a.signBatch(ctx, tx, passed, size)
			return err
		})
		switch {
		case err == nil:
			signed += int64(len(due))
			if len(due) < size {
				return signed, errors.Join(failed...)
			}
			single = max(single-1, 0)
		case len(due) == 0 || ctx.Err() != nil: // no document caused the error
			return signed, errors.Join(append(failed, err)...)
		case size > 1:
			single = len(due)
		default:
			passed, failed = append(passed, due[0]), append(failed, fmt.Errorf("receipts: the document %s: %w", due[0], err))
			single = max(single-1, 0)
		}
	}
}

// WorkWaits reports whether Sign, Announce or the key log's Sequence has work. Each of these begins a transaction that locks,
// which is a write; WorkWaits is one read. Only jobs call it.
func (a *API) WorkWaits(ctx context.Context) (bool, error) {
	some, err := db.Column[bool](ctx, a.DB.SQL, named("work_waits"))
	return err == nil && some[0], err
}

// signBatch signs up to most of the oldest documents, without the excepted ones, in one transaction. It also returns ids on failure.
func (a *API) signBatch(ctx context.Context, tx *db.Tx, excepted []uuid.UUID, most int) (ids []uuid.UUID, err error) {
	due, err := db.All[unsigned](ctx, tx.SQL, named("select_unsigned_receipts"), db.IDs(excepted), most)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	ids = page.Map(due, func(d *unsigned) uuid.UUID { return d.ID })
	origin, logKey, err := a.KeyLog.Name(ctx, tx.SQL)
	if err != nil {
		return nil, err
	}
	key, err := a.KeyLog.SigningKey(ctx, tx.SQL, keylog.PurposeReceipts)
	if err != nil {
		return nil, err
	}
	by := signer{origin, logKey, key}
	of, err := readSources(ctx, tx, due)
	if err != nil {
		return ids, err
	}
	var (
		documents          = make([]string, len(due))
		salts, commitments = make([][]byte, len(due)), make([][]byte, len(due))
	)
	for i, d := range due {
		if documents[i], err = by.document(of, d); err != nil {
			return ids, err
		}
		salt := make([]byte, saltSize)
		_, _ = rand.Read(salt) // never fails
		sum := sha256.Sum256(append(append([]byte(commitmentPrefix), salt...), documents[i]...))
		salts[i], commitments[i] = salt, sum[:]
	}
	return ids, db.Exec(ctx, tx.SQL, named("save_signed_receipts"), db.IDs(ids), pq.Array(documents), pq.ByteaArray(salts), noLabel, pq.ByteaArray(commitments))
}

// signer makes documents with the present key.
type signer struct {
	// log and logKey are the origin of the key log and the hash of its key.
	log, logKey string
	key         ed25519.PrivateKey
}

// SignAs returns a payload as a compact JWS of a type, in canonical JSON, signed with the present key of receipts. Other domains
// also sign their documents with it.
func (a *API) SignAs(ctx context.Context, kind string, payload any) (string, error) {
	key, err := a.KeyLog.SigningKey(ctx, a.DB.SQL, keylog.PurposeReceipts)
	if err != nil {
		return "", err
	}
	return sign(key, kind, payload)
}

// sign returns a payload as a compact JWS of a type, with the id under which the key is published. The same payload has the same
// JWS.
func sign(key ed25519.PrivateKey, kind string, payload any) (string, error) {
	raw, err := canonical(payload)
	if err != nil {
		return "", err
	}
	jwk := jose.JSONWebKey{Key: key, KeyID: keylog.NewJWK(key).KeyID}
	options := new(jose.SignerOptions).WithType(jose.ContentType(kind))
	by, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jwk}, options)
	if err != nil {
		return "", err
	}
	signed, err := by.Sign(raw)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// document returns a signed document.
func (s *signer) document(of *sources, d *unsigned) (string, error) {
	if d.Kind != kindOfReceipt {
		given, ok := of.ratings[d.ID]
		if !ok {
			return "", fmt.Errorf("there is no rating %s", d.ID)
		}
		given.Issuer, given.IssuedAt, given.OrderID, given.Receipt = s.log, d.CreatedAt.Unix(), d.OrderID, d.ReceiptID
		given.Version = documentVersion
		return sign(s.key, ratingType, given)
	}
	o, ok := of.orders[d.OrderID]
	if !ok {
		return "", fmt.Errorf("there is no order %s", d.OrderID)
	}
	payload, err := s.receipt(o, d)
	if err != nil {
		return "", err
	}
	return sign(s.key, receiptType, payload)
}

// receipt returns the payload of an order's receipt.
func (s *signer) receipt(o *closedOrder, d *unsigned) (*receipt, error) {
	agreed, err := canonical(terms{
		OrderID: o.OrderID, Title: o.Title, Description: o.Description, Deadline: o.Deadline, AmountMinor: o.AmountMinor, FeeBps: o.FeeBps,
		InputFiles: o.InputFiles,
	})
	if err != nil {
		return nil, err
	}
	made := &o.receipt
	made.Issuer, made.LogKey, made.IssuedAt, made.ID, made.Version = s.log, s.logKey, d.CreatedAt.Unix(), d.ID, documentVersion
	made.Environment, made.Unit, made.TermsSHA256 = environment, unit, hashOf(agreed)
	made.Customer, made.Contractor = made.Customer.shown(), made.Contractor.shown()
	return made, nil
}

// AddMissing adds rows for the documents of orders that closed, and of ratings that were given, before the server made documents.
// It reads all orders and ratings in batches that each commit, so it may be interrupted, repeated, and run in several processes
// at once. Only jobs call it.
func (a *API) AddMissing(ctx context.Context) error {
	for _, statement := range []*db.Statement{named("add_missing_receipts"), named("add_missing_rating_receipts")} {
		if _, err := a.DB.Walk(ctx, statement, addBatch); err != nil {
			return err
		}
	}
	return nil
}

// notified is a participant who gets the event of a receipt.
type notified struct {
	ReceiptID   uuid.UUID `db:"id"`
	OrderID     uuid.UUID `db:"order_id"`
	Participant uuid.UUID `db:"participant"`
}

// Announce sends the event of each receipt that has its proof to the participants, once, and returns the number of receipts. A
// receipt that was added after its order closed has no event, because an upgrade would fill the queues with old events. Each
// batch commits. It may be repeated and interrupted at any time, and run in several processes at once. Only jobs call it.
func (a *API) Announce(ctx context.Context) (announced int64, err error) {
	for {
		var batch []uuid.UUID
		err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			if batch, err = db.Column[uuid.UUID](ctx, tx.SQL, named("take_proven_receipts"), signBatch); err != nil || len(batch) == 0 {
				return err
			}
			found, err := db.All[notified](ctx, tx.SQL, named("read_notified"), db.IDs(batch))
			if err != nil || len(found) == 0 {
				return err
			}
			return a.Events.Add(ctx, tx, page.Map(found, func(to *notified) events.Event {
				payload := events.ReceiptPayload{OrderID: to.OrderID, ReceiptID: to.ReceiptID}
				return events.Event{Recipient: to.Participant, Kind: events.OrderReceipt, Payload: payload}
			})...)
		})
		announced += int64(len(batch))
		if err != nil || len(batch) < signBatch {
			return announced, err
		}
	}
}
