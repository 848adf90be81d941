package receipts_test

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
	"stoa/graph/ratings"
	"stoa/graph/receipts"
	"stoa/rest/client/keylog"
)

var ptr = graphtest.Ptr[string]

type world struct {
	*graphtest.World
	t                    testing.TB
	customer, contractor *graphtest.Agent
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := graphtest.New(t)
	return &world{w, t, w.Agent(), w.Agent()}
}

// opened is an order in a state before it closes.
func (w *world) opened() uuid.UUID {
	id := w.Ordered(w.customer, w.contractor, "delivered")
	w.Exec("UPDATE orders SET title = 'A sonnet', description = 'Fourteen lines.' WHERE id = $1", id)
	return id
}

// closed is an order that has just closed.
func (w *world) closed() uuid.UUID {
	id := w.opened()
	w.Exec("UPDATE orders SET state = 'closed', outcome = 'accepted', closed_at = stoa_now() WHERE id = $1", id)
	return id
}

func (w *world) sign() int64 { return graphtest.Got(w.Receipts.Sign(w.t.Context()))(w.t) }

// read finds the receipt of an order in the customer's list, which shows it once it is signed.
func (w *world) read(order uuid.UUID) (*receipts.Card, error) {
	list, err := w.Receipts.MyReceipts(w.customer.Ctx, receipts.ListInput{})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list.Receipts, func(r *receipts.Card) bool { return r.OrderID == order })
	if i < 0 {
		return nil, fault.New(fault.NotFound)
	}
	return list.Receipts[i], nil
}

// announced runs the job that announces receipts, and returns their events.
func (w *world) announced() int64 {
	graphtest.OK(w.t)(w.Receipts.Announce(w.t.Context()))
	return w.Count("SELECT count(*) FROM events WHERE kind = $1", events.OrderReceipt)
}

func (w *world) receipt(order uuid.UUID) *receipts.Card { return graphtest.Got(w.read(order))(w.t) }

func (w *world) rate(by *graphtest.Agent, order uuid.UUID) uuid.UUID {
	return graphtest.Got(w.Ratings.RateOrder(by.Ctx, ratings.RateInput{
		OrderID: order.String(), OperationID: ptr(uuid.NewString()), Stars: graphtest.Ptr(int64(5)), Text: ptr("On time."),
	}))(w.t).Rating.ID
}

// A job that is cut off before its commit leaves nothing, and the next one makes the same bytes that it would have made. A job
// that runs again changes nothing.
func TestARepeatedJobMakesTheSameBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.closed()
	w.rate(w.customer, order)
	var cut []string
	errCut := errors.New("the process was killed")
	err := w.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		require.Equal(t, 2, graphtest.Got(w.Receipts.SignBatch(ctx, tx))(t))
		cut = graphtest.Got(db.Column[string](ctx, tx.SQL, &db.Statement{Text: "SELECT jws FROM receipts ORDER BY kind"}))(t)
		return errCut
	})
	require.ErrorIs(t, err, errCut)
	require.Zero(t, w.Count("SELECT count(*) FROM receipts WHERE jws IS NOT NULL"))
	require.Zero(t, w.Count("SELECT count(*) FROM log_queue WHERE type = 3"))
	graphtest.Refused(t, fault.NotFound)(w.read(order))

	w.Shift(time.Hour)
	require.EqualValues(t, 2, w.sign())
	made := w.receipt(order)
	require.Equal(t, []string{made.JWS, made.Ratings[0].JWS}, cut)
	require.Zero(t, w.sign())
	require.Equal(t, made, w.receipt(order))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM log_queue WHERE type = 3"))
	w.sequence()
	require.EqualValues(t, 2, w.announced())
}

// Jobs that run at the same time sign each document once, and notify each participant once.
func TestJobsAtOnceSignAndNotifyOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const orders = 120
	for range orders {
		w.closed()
	}
	var all atomic.Int64
	codes := graphtest.AtOnce(4, func(int) error {
		n, err := w.Receipts.Sign(t.Context())
		all.Add(n)
		return err
	})
	require.Equal(t, map[fault.Code]int{"": 4}, codes.Count())
	require.EqualValues(t, orders, all.Load()+w.sign())
	require.EqualValues(t, orders, w.Count("SELECT count(DISTINCT subject_id) FROM log_queue WHERE type = 3"))
	require.EqualValues(t, orders, w.Count("SELECT count(*) FROM log_queue WHERE type = 3"))
	w.sequence()
	codes = graphtest.AtOnce(4, func(int) error { return graphtest.Err(w.Receipts.Announce(t.Context())) })
	require.Equal(t, map[fault.Code]int{"": 4}, codes.Count())
	require.EqualValues(t, 2*orders, w.announced())
}

// Any number of documents that cannot be signed do not keep others from being signed. Each is named in the error, and is signed
// once it can be.
func TestADocumentThatCannotBeSigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const bad, good = 60, 60
	early, late := w.closed(), uuid.Nil
	w.Exec(`INSERT INTO receipts (id, kind, order_id, customer_id, contractor_id, created_at)
		SELECT gen_random_uuid(), 'rating', $1, $2, $3, stoa_now() - interval '1 hour' FROM generate_series(1, $4)`,
		early, w.customer.ID, w.contractor.ID, bad)
	for range good - 1 {
		late = w.closed()
	}
	signed, err := w.Receipts.Sign(t.Context())
	require.EqualValues(t, good, signed)
	require.ErrorContains(t, err, "there is no rating ")
	require.Equal(t, bad, strings.Count(err.Error(), "receipts: the document "))
	require.NotEmpty(t, w.receipt(early).JWS)
	require.NotEmpty(t, w.receipt(late).JWS)

	order := w.closed()
	signed, err = w.Receipts.Sign(t.Context())
	require.EqualValues(t, 1, signed)
	require.Error(t, err)
	w.Exec("ALTER TABLE ratings DISABLE TRIGGER ratings_receipt")
	w.Exec(`INSERT INTO ratings (id, created_at, order_id, author_id, subject_id, stars)
		SELECT id, stoa_now(), $1, $2, $3, 5 FROM receipts WHERE jws IS NULL ORDER BY id LIMIT 1`, order, w.customer.ID, w.contractor.ID)
	w.Exec("DELETE FROM receipts WHERE jws IS NULL AND id NOT IN (SELECT id FROM ratings)")
	require.EqualValues(t, 1, w.sign(), "it is tried again")
	require.Zero(t, w.sign())
}

// Orders that closed and ratings that were given before the triggers existed get their documents, without events, and once.
func TestMissingDocumentsAreAdded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec("ALTER TABLE orders DISABLE TRIGGER orders_receipt")
	w.Exec("ALTER TABLE ratings DISABLE TRIGGER ratings_receipt")
	order, open := w.closed(), w.opened()
	w.rate(w.customer, order)
	w.Exec("ALTER TABLE orders ENABLE TRIGGER orders_receipt")
	w.Exec("ALTER TABLE ratings ENABLE TRIGGER ratings_receipt")
	w.Shift(time.Hour)
	require.Zero(t, w.sign())
	for range 2 {
		require.NoError(t, w.Receipts.AddMissing(t.Context()))
	}
	require.EqualValues(t, 2, w.sign())
	require.Len(t, w.receipt(order).Ratings, 1)
	graphtest.Refused(t, fault.NotFound)(w.read(open))
	w.sequence()
	require.Zero(t, w.announced())

	w.Exec("ALTER TABLE orders DISABLE TRIGGER orders_receipt")
	w.closed()
	w.Exec("UPDATE bots SET state = 'deleted'")
	require.NoError(t, w.Receipts.AddMissing(t.Context()))
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM receipts"), "none for participants that were both deleted before")
}

// A receipt outlives one participant, and goes with the other; its entry in the log stays.
func TestReceiptsGoWithTheSecondParticipant(t *testing.T) {
	t.Parallel()
	for name, signedFirst := range map[string]bool{"signed before": true, "never signed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			order := w.closed()
			w.rate(w.contractor, order)
			if signedFirst {
				require.EqualValues(t, 2, w.sign())
			}
			w.Deleted(w.contractor)
			w.sign()
			kept := w.receipt(order)
			require.NotEmpty(t, kept.Salt)
			require.Len(t, kept.Ratings, 1)
			w.Deleted(w.customer)
			require.Zero(t, w.sign())
			require.EqualValues(t, 2, w.Count("SELECT count(*) FROM receipts WHERE jws IS NULL AND salt IS NULL AND erased_at IS NOT NULL"))
			require.EqualValues(t, 2, w.Count("SELECT count(*) FROM log_queue WHERE type = 3 AND salt IS NULL"))
			require.NoError(t, w.Receipts.AddMissing(t.Context()))
			require.Zero(t, w.sign())
		})
	}
}

// Of two participants that are deleted at the same time, the later one erases the receipts.
func TestParticipantsThatGoAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.closed()
	w.sign()
	first := graphtest.Got(w.DB.SQL.Pool.BeginTx(t.Context(), nil))(t)
	defer first.Rollback() // after a commit this does nothing
	graphtest.OK(t)(first.ExecContext(t.Context(), "UPDATE bots SET state = 'deleted' WHERE id = $1", w.customer.ID))
	second := make(chan error, 1)
	go func() {
		_, err := w.DB.SQL.ExecContext(t.Context(), "UPDATE bots SET state = 'deleted' WHERE id = $1", w.contractor.ID)
		second <- err
	}()
	require.Eventually(t, func() bool {
		return w.Count("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7062 AND NOT granted") == 1
	}, slack.TestWait, 10*time.Millisecond)
	require.NoError(t, first.Commit())
	require.NoError(t, <-second)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM receipts WHERE erased_at IS NOT NULL"))
}

// A server of 0.2 has notified the participants when it signed.
func TestReceiptsOfAnOlderServerAreNotAnnouncedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.closed()
	w.sign()
	w.Exec("UPDATE receipts SET told_at = NULL") // as such a server leaves it
	w.sequence()
	require.Zero(t, w.announced())
}

// Anyone reads the document of a rating while both profiles are open.
func TestPublicDocumentOfARating(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.closed()
	rating := w.rate(w.customer, order)
	w.sign()
	read := func() (*receipts.PublicDocument, error) {
		return w.Receipts.PublicRating(t.Context(), receipts.RatingInput{RatingID: rating.String()})
	}
	w.Show(w.customer, true)
	w.Show(w.contractor, true)
	require.Equal(t, w.receipt(order).Ratings[0], graphtest.Got(read())(t).Rating)
	for _, closing := range []*graphtest.Agent{w.customer, w.contractor} {
		w.Show(closing, false)
		graphtest.Refused(t, fault.NotFound)(read())
		w.Show(closing, true)
	}
	w.Exec("UPDATE ratings SET removed_at = stoa_now()")
	graphtest.Refused(t, fault.NotFound)(read())
}

func (w *world) sequence() {
	for range 2 { // the first one may begin the log
		graphtest.OK(w.t)(w.KeyLog.Sequence(w.t.Context()))
	}
}

func (w *world) keys() []*receipts.PublishedKey {
	return graphtest.Got(w.Receipts.PublishedKeys(w.t.Context()))(w.t).Keys
}

// prove requires that the log proves every published key.
func (w *world) prove() {
	named := graphtest.Got(w.KeyLog.Published(w.t.Context()))(w.t)
	log := graphtest.Got(keylog.ParseLogKey(named.Vkeys[0]))(w.t)
	for _, key := range w.keys() {
		public := graphtest.Got(base64.RawURLEncoding.DecodeString(key.X))(w.t)
		entry := graphtest.Got(keylog.KeyEntry(keylog.PurposeReceipts, public))(w.t)
		require.NotNil(w.t, key.LogProof)
		proof := graphtest.Got(keylog.ParseProof([]byte(*key.LogProof)))(w.t)
		require.Equal(w.t, *key.LogIndex, proof.Index)
		graphtest.OK(w.t)(proof.Check(entry, log))
	}
}

func parse(t *testing.T, jws string) *jose.JSONWebSignature {
	t.Helper()
	return graphtest.Got(jose.ParseSignedCompact(jws, []jose.SignatureAlgorithm{jose.EdDSA}))(t)
}
