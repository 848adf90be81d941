package rest_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"stoa/graph/graphtest"
	logs "stoa/graph/keylog"
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
	"stoa/rest/client/keylog"
	"stoa/rest/client/receipt"
)

// receipt returns an order's receipt after its documents are signed, logged and announced. Another test on the same database may
// do part of this, or lock the head of the log.
func (s *trade) receipt(by *graphtest.Agent, orderID any) object {
	s.t.Helper()
	require.EventuallyWithT(s.t, func(c *assert.CollectT) {
		graphtest.OK(c)(s.Receipts.Sign(s.t.Context()))
		graphtest.OK(c)(s.KeyLog.Sequence(s.t.Context()))
		graphtest.OK(c)(s.Receipts.Announce(s.t.Context()))
		require.Zero(c, s.Count(`SELECT count(*) FROM receipts r WHERE order_id = $1 AND (jws IS NULL
			OR kind = 'order' AND (told_at < 'infinity') IS NOT TRUE
			OR NOT EXISTS (SELECT FROM log_openings g WHERE g.subject_id = r.id))`, orderID))
	}, slack.TestWait, 20*time.Millisecond)
	return s.get(by, "/orders/"+orderID.(string)+"/receipt").ok(200)["receipt"].(object)
}

// keySet returns the published keys of the server.
func (s *site) keySet() (set jose.JSONWebKeySet) {
	s.t.Helper()
	require.NoError(s.t, json.Unmarshal(s.send("GET", "/.well-known/jwks.json", "", nil).raw, &set))
	return set
}

// opened verifies a document with the published keys and returns its payload.
func (s *site) opened(jws any, kind string) object {
	s.t.Helper()
	parsed := graphtest.Got(jose.ParseSignedCompact(jws.(string), []jose.SignatureAlgorithm{jose.EdDSA}))(s.t)
	header := parsed.Signatures[0].Header
	require.Equal(s.t, kind, header.ExtraHeaders[jose.HeaderType])
	set := s.keySet()
	keys := set.Key(header.KeyID)
	require.Len(s.t, keys, 1)
	raw := graphtest.Got(parsed.Verify(keys[0]))(s.t)
	var payload object
	require.NoError(s.t, json.Unmarshal(raw, &payload))
	return payload
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// closed returns an order that its customer has accepted.
func (s *trade) closed() object {
	s.t.Helper()
	return s.step(s.customer, s.delivered(), "complete", nil)
}

// The request for an unsigned receipt is refused with the seconds to wait.
func TestAReceiptThatIsBeingSigned(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	path := "/api/v1/orders/" + of(s.closed()) + "/receipt"
	refused := s.get(s.contractor, path).is(http.StatusNotFound)
	require.Contains(t, string(refused.raw), "being signed")
	require.Equal(t, "5", refused.header.Get("Retry-After"))
	require.Empty(t, s.get(s.Agent(), path).header.Get("Retry-After"), "it is none of theirs")
}

// An accepted order has a receipt of the terms, the result and the payment; each rating has a document.
func TestReceiptOfAnAcceptedOrder(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	card := s.closed()
	s.rate(s.customer, card["id"], object{"stars": 5, "text": "On time."}).ok(201)
	receipt := s.receipt(s.customer, card["id"])
	other := s.receipt(s.contractor, card["id"])
	require.Equal(t, unproven(receipt), unproven(other), "both read the same")
	require.NotNil(t, receipt["proof"])
	payload := s.opened(receipt["jws"], "stoa-receipt+jwt")
	closedAt := graphtest.Got(time.Parse(time.RFC3339, card["closed_at"].(string)))(t)
	contains(t, payload, object{
		"jti": receipt["id"], "sub": card["id"], "iat": float64(closedAt.Unix()), "v": 1.0, "environment": "test", "unit": "test_credit",
		"outcome": "accepted", "order_version": card["version"], "author_id": card["author_id"], "amount_minor": 1000.0, "fee_minor": 100.0,
		"total_minor": 1100.0, "fee_bps": 1000.0, "input_files": []any{}, "result_files": []any{}, "result_text_sha256": sumOf("Done."),
		"deadline": card["deadline"], "created_at": card["created_at"], "funded_at": card["funded_at"], "closed_at": card["closed_at"],
		"delivered_at": card["delivered_at"], "task_id": nil,
		"terms_sha256": sumOf(`{"amount_minor":1000,"deadline":"2999-01-01T00:00:00.000000Z","description":"Fourteen lines.","fee_bps":1000,` +
			`"input_files":[],"order_id":"` + card["id"].(string) + `","title":"A sonnet"}`),
	})
	for _, role := range []string{"customer", "contractor"} {
		brief := card[role].(object)
		require.Equal(t, object{
			"id": brief["id"], "handle": brief["handle"], "key_fingerprint": brief["encryption_key_fingerprint"],
		}, payload[role])
	}
	var actions []any
	for i, step := range payload["history"].([]any) {
		step := step.(object)
		require.EqualValues(t, i+1, step["version"])
		require.Nil(t, step["reason_sha256"])
		actions = append(actions, step["action"])
	}
	require.Equal(t, []any{"create", "accept", "start", "deliver", "complete"}, actions)
	require.Regexp(t, `/log/1$`, payload["iss"])
	require.Regexp(t, `^[0-9a-f]{8}$`, payload["log_key"])
	s.requireLedger(s.customer, payload)

	ratings := receipt["ratings"].([]any)
	require.Len(t, ratings, 1)
	rating := ratings[0].(object)
	contains(t, s.opened(rating["jws"], "stoa-rating+jwt"), object{
		"sub": card["id"], "receipt": receipt["id"], "author_id": s.customer.ID.String(), "subject_id": s.contractor.ID.String(), "stars": 5.0,
		"text_sha256": sumOf("On time."), "v": 1.0, "iss": payload["iss"],
	})
	for _, agent := range []*graphtest.Agent{s.customer, s.contractor} {
		require.Equal(t, []object{{"order_id": card["id"], "receipt_id": receipt["id"]}}, s.told(agent, "2", "order.receipt"))
		require.Empty(t, s.told(agent, "1", "order.receipt"))
		listed := s.get(agent, "/receipts").ok(200)
		require.Nil(t, listed["next_before"])
		require.Len(t, listed["receipts"], 1)
		require.Equal(t, receipt["jws"], listed["receipts"].([]any)[0].(object)["jws"])
	}
	s.requireEntries(receipt, rating)
}

// requireLedger compares the ledger of a receipt with the order's entries in the wallet history.
func (s *trade) requireLedger(agent *graphtest.Agent, payload object) {
	s.t.Helper()
	moved := make(map[any]float64)
	kinds := make(map[any]any)
	for _, e := range s.get(agent, "/wallet/history").ok(200)["entries"].([]any) {
		entry := e.(object)
		if entry["order_id"] == payload["sub"] {
			moved[entry["transaction_id"]] += max(-entry["delta_minor"].(float64), 0)
			kinds[entry["transaction_id"]] = entry["kind"]
		}
	}
	ledger := payload["ledger"].([]any)
	require.Len(s.t, ledger, len(moved))
	for _, transfer := range ledger {
		transfer := transfer.(object)
		require.InDelta(s.t, moved[transfer["transaction_id"]], transfer["total_minor"], 0)
		require.Equal(s.t, kinds[transfer["transaction_id"]], transfer["kind"])
	}
}

// requireEntries requires exactly one entry in the key log's queue for each document, which the salt opens.
func (s *trade) requireEntries(documents ...object) {
	s.t.Helper()
	for _, document := range documents {
		salt := graphtest.Got(base64.StdEncoding.DecodeString(document["salt"].(string)))(s.t)
		require.Len(s.t, salt, 16)
		commitment := sha256.Sum256([]byte("stoa log receipt 1\n" + string(salt) + document["jws"].(string)))
		entry := append(append([]byte{3}, make([]byte, 32)...), commitment[:]...)
		require.EqualValues(s.t, 1, s.Count("SELECT count(*) FROM log_leaves WHERE index = $1 AND entry = $2", document["index"], entry))
	}
}

// unproven returns a receipt without its proofs, which change when the log grows.
func unproven(receipt object) object {
	copied := maps.Clone(receipt)
	delete(copied, "proof")
	var ratings []any
	for _, rating := range receipt["ratings"].([]any) {
		document := maps.Clone(rating.(object))
		delete(document, "proof")
		ratings = append(ratings, document)
	}
	copied["ratings"] = ratings
	return copied
}

// unlogged returns a document as it is before the log has its entries.
func unlogged(raw []byte) []byte {
	return regexp.MustCompile(`"((?:log_)?proof)":"(?:\\.|[^"\\])*"|"((?:log_)?index)":[0-9]+`).ReplaceAll(raw, []byte(`"$1$2":null`))
}

// logKey returns the first published key of the key log.
func (s *site) logKey() note.Verifier {
	s.t.Helper()
	published := s.send("GET", "/.well-known/stoa-keys.json", "", nil).ok(200)["log"].(object)
	return graphtest.Got(keylog.ParseLogKey(published["vkeys"].([]any)[0].(string)))(s.t)
}

// checked verifies a receipt with the published keys. The receipts' key enters the log a moment after its first use.
func (s *site) checked(file []byte) (found *receipt.Verified) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		trusted, err := receipt.ParseKeys(s.send("GET", "/.well-known/jwks.json", "", nil).raw)
		require.NoError(s.t, err)
		found, err = receipt.Verify(file, receipt.Trust{Keys: trusted, Logs: []note.Verifier{s.logKey()}})
		return err == nil
	}, slack.TestWait, 50*time.Millisecond)
	return found
}

// The client package verifies the server's receipts: first with the published keys, and then also in the log. It recomputes
// terms_sha256 as described.
func TestReceiptsPassTheCheckOfClients(t *testing.T) {
	t.Parallel()
	s := tradeOn(sharedFileSite(t))
	input := s.attach(s.customer, "order", pngOf(t, 5, 7))
	card := s.step(s.contractor, s.offer(s.customer, s.terms(object{"input_attachment_ids": []any{input["id"]}})), "accept", nil)
	card = s.step(s.contractor, s.step(s.contractor, card, "start", nil), "deliver", object{"result_text": "Done."})
	s.step(s.customer, card, "complete", nil)
	s.rate(s.contractor, card["id"], nil).ok(201)
	s.receipt(s.customer, card["id"])
	file := s.get(s.customer, "/orders/"+card["id"].(string)+"/receipt").raw
	order := s.get(s.customer, "/orders/"+card["id"].(string)).raw
	trusted := graphtest.Got(receipt.ParseKeys(unlogged(s.send("GET", "/.well-known/jwks.json", "", nil).raw)))(t)
	found, err := receipt.Verify(unlogged(file), receipt.Trust{Keys: trusted})
	require.ErrorIs(t, err, receipt.ErrUnlogged)
	require.Equal(t, card["id"], found.Receipt.OrderID)
	require.Len(t, found.Ratings, 1)
	require.NoError(t, found.Receipt.CheckTerms(order))
	_, err = receipt.Verify(unlogged(file), receipt.Trust{})
	require.ErrorIs(t, err, receipt.ErrUnvouched)

	log := s.logKey()
	_, err = receipt.Verify(file, receipt.Trust{Keys: trusted, Logs: []note.Verifier{log}})
	require.ErrorIs(t, err, receipt.ErrUnvouched, "the key was not in the log")
	s.checked(file)
}

// After a restored backup the log has a new epoch. A rating of an earlier order still belongs to the order's receipt.
func TestRatingAfterANewEpoch(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	card := s.closed()
	before := s.opened(s.receipt(s.customer, card["id"])["jws"], "stoa-receipt+jwt")
	require.NoError(t, s.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := logs.NewEpoch(ctx, tx.SQL, nil, "a backup was restored")
		return err
	}))
	s.rate(s.contractor, card["id"], nil).ok(201)
	s.receipt(s.customer, card["id"])
	answered := s.get(s.customer, "/orders/"+card["id"].(string)+"/receipt")
	rating := answered.ok(200)["receipt"].(object)["ratings"].([]any)[0].(object)
	after := s.opened(rating["jws"], "stoa-rating+jwt")
	require.Equal(t, strings.TrimSuffix(before["iss"].(string), "1")+"2", after["iss"])
	require.Len(t, s.checked(answered.raw).Ratings, 1)
}

// A model reads the receipt of its order with the orders tool; it cannot read the receipts of others.
func TestAModelReadsAReceipt(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	card := s.closed()
	asked := object{"order_id": card["id"], "show": "receipt"}
	signed := s.receipt(s.customer, card["id"])
	read := s.model(s.customer).call("orders", asked)["receipt"].(object)
	contains(t, read, object{"id": signed["id"], "order_id": card["id"]})
	require.Contains(t, fmt.Sprint(read["jws"]), signed["jws"])
	s.model(s.Agent()).refused("not_found", "orders", asked)
}

// A refunded order has a receipt with the hash of the reason; orders without payments have none. A rating without a text has no
// hash.
func TestReceiptOfARefundedOrder(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	card := s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "accept", nil)
	card = s.step(s.customer, card, "propose-refund", object{"reason": "It is late."})
	path := "/api/v1/orders/" + card["id"].(string) + "/receipt"
	s.get(s.customer, path).fault("not_found")
	card = s.step(s.contractor, card, "approve-refund", nil)
	s.post(s.customer, "/orders/"+of(card)+"/rating", object{"operation_id": uuid.NewString(), "stars": 2}).ok(201)
	receipt := s.receipt(s.contractor, card["id"])
	payload := s.opened(receipt["jws"], "stoa-receipt+jwt")
	contains(t, payload, object{"outcome": "refunded", "result_text_sha256": nil, "delivered_at": nil})
	contains(t, s.opened(receipt["ratings"].([]any)[0].(object)["jws"], "stoa-rating+jwt"), object{"text_sha256": nil})
	require.Equal(t, sumOf("It is late."), payload["history"].([]any)[2].(object)["reason_sha256"])
	s.requireLedger(s.customer, payload)
	s.get(s.Agent(), path).fault("not_found")
	s.get(s.customer, "/orders/x/receipt").fault("invalid_id")

	rejected := s.step(s.contractor, s.offer(s.customer, s.terms(nil)), "reject", nil)
	cancelled := s.step(s.customer, s.offer(s.customer, s.terms(nil)), "cancel", nil)
	graphtest.OK(t)(s.Receipts.Sign(t.Context()))
	for _, card := range []object{rejected, cancelled} {
		s.get(s.customer, "/orders/"+card["id"].(string)+"/receipt").fault("not_found")
	}
	require.Zero(t, s.Count("SELECT count(*) FROM receipts WHERE order_id IN ($1, $2)", rejected["id"], cancelled["id"]))
}
