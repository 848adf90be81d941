-- Receipts of closed orders and the signed documents of ratings (docs/contract.md §12.5).

-- +goose Up
SET LOCAL lock_timeout = '1s';
-- A row is written with the closing of an order, or with a rating; a job signs it. The id of a rating's document is the rating's.
-- jws and salt are null before that, and again once both participants are deleted (erased_at).
CREATE TABLE IF NOT EXISTS receipts (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('order', 'rating')),
  order_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  contractor_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  jws text,
  salt bytea,
  erased_at timestamptz
);
CREATE UNIQUE INDEX IF NOT EXISTS receipts_one_an_order ON receipts (order_id) WHERE kind = 'order';
CREATE INDEX IF NOT EXISTS receipts_order ON receipts (order_id, created_at);
CREATE INDEX IF NOT EXISTS receipts_customer ON receipts (customer_id, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS receipts_contractor ON receipts (contractor_id, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS receipts_unsigned ON receipts (created_at) WHERE jws IS NULL AND erased_at IS NULL;

-- +goose Down
DROP TABLE IF EXISTS receipts;
