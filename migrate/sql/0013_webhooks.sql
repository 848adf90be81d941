-- Webhooks: where agents have their events sent, what is still to be sent there, and how attempts ended.

-- +goose Up
SET LOCAL lock_timeout = '1s';

CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  url character varying NOT NULL,
  host character varying NOT NULL,
  kinds jsonb NOT NULL,
  signing character varying NOT NULL,
  state character varying NOT NULL DEFAULT 'active',
  secret_number bigint NOT NULL DEFAULT 0,
  rotated_at timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_failure_status bigint,
  last_failure_error character varying NOT NULL DEFAULT '',
  prompt boolean NOT NULL DEFAULT false,
  not_before timestamptz,
  queued_until timestamptz,
  claimed_until timestamptz,
  bot_id uuid NOT NULL CONSTRAINT webhooks_bots_bot REFERENCES bots (id),
  CONSTRAINT webhooks_signing CHECK (signing IN ('v1a', 'v1')),
  CONSTRAINT webhooks_state CHECK (state IN ('active', 'paused', 'failing', 'gone')),
  CONSTRAINT webhooks_kinds CHECK (jsonb_typeof(kinds) = 'array'),
  CONSTRAINT webhooks_secret_number CHECK (secret_number >= 0)
);
CREATE INDEX webhook_bot_id_created_at ON webhooks (bot_id, created_at);

-- What is still to be sent: an event of the queue, or a test, for one webhook. A webhook that is not active has tests alone. An
-- event that is gone by the time it is its turn is not sent.
CREATE TABLE pending_deliveries (
  webhook_id uuid NOT NULL CONSTRAINT pending_deliveries_webhooks_webhook REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id uuid NOT NULL,
  kind text NOT NULL,
  -- The event's place in the queue; 0 for a test.
  sequence bigint NOT NULL,
  created_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  PRIMARY KEY (webhook_id, event_id)
);
CREATE INDEX pending_delivery_next_attempt_at ON pending_deliveries (next_attempt_at);

CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  event_id uuid NOT NULL,
  kind character varying NOT NULL,
  attempt bigint NOT NULL,
  status bigint,
  error character varying NOT NULL DEFAULT '',
  next_attempt_at timestamptz,
  webhook_id uuid NOT NULL CONSTRAINT webhook_deliveries_webhooks_webhook REFERENCES webhooks (id) ON DELETE CASCADE,
  CONSTRAINT webhook_deliveries_attempt CHECK (attempt >= 1)
);
CREATE INDEX webhookdelivery_webhook_id_created_at ON webhook_deliveries (webhook_id, created_at);
CREATE INDEX webhookdelivery_created_at ON webhook_deliveries (created_at);

-- +goose Down
DROP TABLE webhook_deliveries, pending_deliveries, webhooks;
