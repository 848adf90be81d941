-- Statements about receipts (§12.5). A row of the table receipts is a document: of an order, or of a rating of that order.

-- name: select_unsigned_receipts(but uuid[], max bigint)
-- The oldest unsigned documents, except `but` and locked ones, which another transaction signs or erases.
SELECT d.id, d.kind, d.order_id, d.created_at,
  (SELECT r.id FROM receipts r WHERE r.order_id = d.order_id AND r.kind = 'order') AS receipt_id
FROM receipts d WHERE d.jws IS NULL AND d.erased_at IS NULL AND d.id <> ALL (:but)
ORDER BY d.created_at LIMIT :max FOR UPDATE OF d SKIP LOCKED;

-- name: select_signing_keys(purpose text)
SELECT k.number FROM signing_keys k WHERE k.purpose = :purpose ORDER BY k.number DESC;

-- text: text_hash(of, column)
-- The SHA-256 of a text in hex; null if there is none.
encode(sha256(convert_to(nullif(of.column, ''), 'UTF8')), 'hex')

-- text: files_of(kind)
-- The files of a kind that are bound to the order o, in their order.
(SELECT coalesce(json_agg(json_build_object('sha256', encode(f.sha256, 'hex'), 'size_bytes', f.size_bytes, 'media_type', f.media_type)
  ORDER BY f.position), '[]') FROM attachments f WHERE f.bound_id = o.id AND f.bound_kind = 'kind')

-- name: read_orders_of_receipts(orders uuid[])
-- Steps and transactions are listed oldest first. The amount of a transaction is the sum that the accounts received.
SELECT o.id AS order_id, o.title, o.description, :text_hash(o, result_text) AS result_text_sha256, coalesce(o.outcome, '') AS outcome,
  o.version AS order_version, o.author_id, o.task_id, o.amount_minor, o.fee_minor, o.total_minor, o.fee_bps, o.deadline, o.created_at,
  o.funded_at, o.delivered_at, o.closed_at,
  c.id AS "customer.id", c.handle AS "customer.handle", c.encryption_public_key AS "customer.key",
  k.id AS "contractor.id", k.handle AS "contractor.handle", k.encryption_public_key AS "contractor.key",
  :files_of(order_input) AS input_files, :files_of(order_result) AS result_files,
  (SELECT coalesce(json_agg(json_build_object('action', e.action, 'participant_id', e.participant_id, 'version', e.version,
      'at', e.created_at, 'reason_sha256', :text_hash(e, reason)) ORDER BY e.version), '[]')
    FROM order_events e WHERE e.order_id = o.id) AS history,
  (SELECT coalesce(json_agg(json_build_object('transaction_id', t.id, 'kind', t.kind, 'total_minor', t.total) ORDER BY t.at, t.id), '[]')
    FROM (SELECT e.transaction_id AS id, min(e.kind) AS kind, sum(e.delta_minor) FILTER (WHERE e.delta_minor > 0) AS total,
        min(e.created_at) AS at
      FROM ledger_entries e WHERE e.order_id = o.id GROUP BY e.transaction_id) t) AS ledger
FROM orders o JOIN bots c ON c.id = o.customer_id JOIN bots k ON k.id = o.contractor_id WHERE o.id = ANY(:orders);

-- name: read_ratings_of_receipts(ratings uuid[])
SELECT r.id, r.author_id, r.subject_id, r.stars, CASE WHEN a.state <> 'deleted' THEN :text_hash(r, text) END AS text_sha256
FROM ratings r JOIN bots a ON a.id = r.author_id WHERE r.id = ANY(:ratings);

-- name: save_signed_receipts(ids uuid[], documents text[], salts bytea[], label bytea, commitments bytea[])
-- Stores signed documents, and queues an entry for each in the key log. Only these rows hold the salts, so an erasure finds them.
-- If told_at is infinity, the participants are still to be notified; servers of 0.2 notify them at once, and leave it null.
WITH signed AS (
  SELECT * FROM unnest(:ids::uuid[], :documents::text[], :salts::bytea[], :commitments::bytea[]) AS s (id, jws, salt, commitment)
), saved AS (
  UPDATE receipts r SET jws = s.jws, salt = s.salt, told_at = 'infinity' FROM signed s WHERE r.id = s.id RETURNING r.id, s.commitment
)
INSERT INTO log_queue (type, label, commitment, subject_id) SELECT 3, :label, v.commitment, v.id FROM saved v;

-- text: proven
-- The receipts r whose participants are to be notified, and whose entry the key log holds.
receipts r JOIN log_openings g ON g.subject_id = r.id WHERE r.told_at = 'infinity' AND r.kind = 'order'

-- name: work_waits()
-- Whether a document waits for its signature, an entry for the log, or a proven receipt for its event, or the log has not begun.
SELECT EXISTS (SELECT FROM receipts d WHERE d.jws IS NULL AND d.erased_at IS NULL)
  OR EXISTS (SELECT FROM log_queue) OR NOT EXISTS (SELECT FROM log_head WHERE ended_at IS NULL) OR EXISTS (SELECT FROM :proven);

-- name: take_proven_receipts(max bigint)
-- Marks the oldest proven receipts. Other processes skip them.
UPDATE receipts d SET told_at = stoa_now() WHERE d.id IN (
  SELECT r.id FROM :proven ORDER BY r.created_at LIMIT :max FOR UPDATE OF r SKIP LOCKED
) RETURNING d.id;

-- name: read_notified(receipts uuid[])
-- The participants who exist, of receipts that were added when their orders closed.
SELECT d.id, d.order_id, b.id AS participant FROM receipts d JOIN orders o ON o.id = d.order_id AND o.closed_at = d.created_at
JOIN bots b ON b.id IN (d.customer_id, d.contractor_id) AND b.state <> 'deleted' WHERE d.id = ANY (:receipts);

-- name: state_without_receipt(order_id uuid, caller uuid)
-- The state of an order of the caller whose receipt is not erased. If it is closed, the key log will have its receipt's entry.
SELECT o.state FROM orders o LEFT JOIN receipts d ON d.order_id = o.id AND d.kind = 'order'
WHERE o.id = :order_id AND :caller IN (o.customer_id, o.contractor_id) AND d.erased_at IS NULL;

-- name: add_missing_receipts(after uuid, max bigint)
-- Adds the receipts of a batch of orders that closed before the triggers existed, and returns the last order of the batch. It
-- skips orders whose participants are both deleted, and orders of the demo whose texts are erased.
WITH batch AS MATERIALIZED (
  SELECT o.id FROM orders o WHERE o.id > :after ORDER BY o.id LIMIT :max
), added AS MATERIALIZED (
  SELECT stoa_add_receipt(o, stoa_now()) FROM batch b JOIN orders o ON o.id = b.id
  JOIN bots c ON c.id = o.customer_id JOIN bots k ON k.id = o.contractor_id
  WHERE o.state = 'closed' AND (c.state <> 'deleted' OR k.state <> 'deleted')
    AND NOT (c.is_demo AND k.is_demo AND 'deleted' IN (c.state, k.state))
    AND NOT EXISTS (SELECT FROM receipts r WHERE r.order_id = o.id AND r.kind = 'order')
)
SELECT (SELECT id FROM batch ORDER BY id DESC LIMIT 1) AS last_id, (SELECT count(*) FROM added) AS changed;

-- name: add_missing_rating_receipts(after uuid, max bigint)
-- The same for the ratings of orders that have a receipt. It runs after the orders.
WITH batch AS MATERIALIZED (
  SELECT r.id FROM ratings r WHERE r.id > :after ORDER BY r.id LIMIT :max
), added AS MATERIALIZED (
  SELECT stoa_add_rating_receipt(r, stoa_now()) FROM batch b JOIN ratings r ON r.id = b.id
  WHERE EXISTS (SELECT FROM receipts d WHERE d.order_id = r.order_id AND d.kind = 'order' AND d.erased_at IS NULL)
    AND NOT EXISTS (SELECT FROM receipts d WHERE d.id = r.id)
)
SELECT (SELECT id FROM batch ORDER BY id DESC LIMIT 1) AS last_id, (SELECT count(*) FROM added) AS changed;

-- text: document
-- The columns of a signed document d, whose opening in the key log is g.
d.id, d.kind, d.order_id, d.created_at, d.jws, d.salt, g.index

-- name: read_receipt(order_id uuid, caller uuid)
-- The documents of an order, the receipt first.
SELECT :document FROM receipts d LEFT JOIN log_openings g ON g.subject_id = d.id
WHERE d.order_id = :order_id AND :caller IN (d.customer_id, d.contractor_id) AND d.jws IS NOT NULL
ORDER BY d.kind, d.created_at, d.id;

-- name: is_receipt_of(id uuid, caller uuid)
SELECT r.id FROM receipts r WHERE r.id = :id AND r.kind = 'order' AND :caller IN (r.customer_id, r.contractor_id);

-- name: list_receipts(caller uuid, before uuid, max bigint)
-- A page of the caller's receipts with the documents of their ratings, newest first, older than `before` if that is not null.
-- Each role has an index, and no index is read beyond the page.
WITH start AS (
  SELECT created_at, id FROM receipts WHERE id = :before AND kind = 'order' AND :caller IN (customer_id, contractor_id)
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
), found AS MATERIALIZED (
  SELECT f.order_id, f.created_at, f.id FROM start s CROSS JOIN LATERAL (
    (SELECT r.order_id, r.created_at, r.id FROM receipts r
      WHERE r.customer_id = :caller AND r.kind = 'order' AND r.jws IS NOT NULL AND (r.created_at, r.id) < (s.created_at, s.id)
      ORDER BY r.created_at DESC, r.id DESC LIMIT :max::bigint)
    UNION ALL
    (SELECT r.order_id, r.created_at, r.id FROM receipts r
      WHERE r.contractor_id = :caller AND r.kind = 'order' AND r.jws IS NOT NULL AND (r.created_at, r.id) < (s.created_at, s.id)
      ORDER BY r.created_at DESC, r.id DESC LIMIT :max::bigint)
  ) f ORDER BY f.created_at DESC, f.id DESC LIMIT :max
)
SELECT :document FROM found f JOIN receipts d ON d.order_id = f.order_id AND d.jws IS NOT NULL
LEFT JOIN log_openings g ON g.subject_id = d.id
ORDER BY f.created_at DESC, f.id DESC, d.kind, d.created_at, d.id;

-- name: read_public_rating_document(id uuid)
-- The document of a rating that counts, while the profiles of both participants are open.
SELECT :document FROM receipts d JOIN ratings r ON r.id = d.id AND r.removed_at IS NULL
JOIN bots c ON c.id = d.customer_id AND stoa_public(c) JOIN bots k ON k.id = d.contractor_id AND stoa_public(k)
LEFT JOIN log_openings g ON g.subject_id = d.id
WHERE d.id = :id AND d.kind = 'rating' AND d.jws IS NOT NULL;

-- name: receipt_summary(order_id uuid)
SELECT 'The receipt ' || d.id || CASE
    WHEN d.erased_at IS NOT NULL THEN ' is erased, because both participants are deleted.'
    WHEN d.jws IS NULL THEN ' waits to be signed.'
    WHEN g.index IS NULL THEN ' is signed, and waits for the key log.'
    ELSE ' is signed, and entry ' || g.index || ' of the key log.'
  END AS summary
FROM receipts d LEFT JOIN log_openings g ON g.subject_id = d.id WHERE d.order_id = :order_id AND d.kind = 'order';
