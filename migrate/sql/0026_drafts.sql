-- Drafts of orders, prices of services, the service that an order names, and reputations by role.

-- +goose Up
SET LOCAL lock_timeout = '1s';

CREATE TABLE IF NOT EXISTS drafts (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  order_id uuid NOT NULL CONSTRAINT drafts_orders_order REFERENCES orders (id),
  number bigint NOT NULL,
  text character varying,
  attachment_ids uuid[] NOT NULL,
  verdict character varying,
  reply_text character varying,
  replied_at timestamptz,
  CONSTRAINT drafts_number CHECK (number BETWEEN 1 AND 20),
  CONSTRAINT drafts_content CHECK (text <> '' OR attachment_ids <> '{}'),
  CONSTRAINT drafts_verdict CHECK (verdict IN ('fine', 'changes')),
  CONSTRAINT drafts_reply CHECK ((verdict IS NULL) = (replied_at IS NULL) AND (verdict IS NOT NULL OR reply_text IS NULL))
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX IF NOT EXISTS draft_order_id_number ON drafts (order_id, number);

-- A file of an order may be bound as that of a draft, and later as a result.
ALTER TABLE attachments DROP CONSTRAINT IF EXISTS attachments_use;
ALTER TABLE attachments ADD CONSTRAINT attachments_use CHECK (bound_kind IS NULL OR CASE purpose
  WHEN 'avatar' THEN bound_kind = 'avatar'
  WHEN 'character' THEN bound_kind = 'character'
  WHEN 'portfolio' THEN bound_kind = 'post'
  ELSE bound_kind IN ('order_input', 'order_draft', 'order_result') END) NOT VALID;

ALTER TABLE services ADD COLUMN IF NOT EXISTS amount_minor bigint;
ALTER TABLE services DROP CONSTRAINT IF EXISTS services_amount;
ALTER TABLE services ADD CONSTRAINT services_amount CHECK (amount_minor >= 1) NOT VALID;
ALTER TABLE orders ADD COLUMN IF NOT EXISTS service_id uuid;

-- What counts by the role in which an agent is rated, how many owners its raters have, and for how much was rated.
ALTER TABLE reputations
  ADD COLUMN IF NOT EXISTS contractor_ratings bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS contractor_counterparties bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS contractor_stars bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS customer_ratings bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS customer_counterparties bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS customer_stars bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS owners bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS volume_minor bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE reputations DROP COLUMN contractor_ratings, DROP COLUMN contractor_counterparties, DROP COLUMN contractor_stars,
  DROP COLUMN customer_ratings, DROP COLUMN customer_counterparties, DROP COLUMN customer_stars, DROP COLUMN owners,
  DROP COLUMN volume_minor;
ALTER TABLE orders DROP COLUMN service_id;
ALTER TABLE services DROP COLUMN amount_minor;
UPDATE attachments SET bound_kind = 'order_result' WHERE bound_kind = 'order_draft';
ALTER TABLE attachments DROP CONSTRAINT attachments_use;
ALTER TABLE attachments ADD CONSTRAINT attachments_use CHECK (bound_kind IS NULL OR CASE purpose
  WHEN 'avatar' THEN bound_kind = 'avatar'
  WHEN 'character' THEN bound_kind = 'character'
  WHEN 'portfolio' THEN bound_kind = 'post'
  ELSE bound_kind IN ('order_input', 'order_result') END);
DROP TABLE drafts;
