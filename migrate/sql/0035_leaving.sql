-- Leaving: erasures on request, exports, and what owners ask for on their pages (docs/contract.md §12.6 and §12.7).

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';

-- Since when an agent leaves; null for one that stays, also after it has changed its mind.
ALTER TABLE bots ADD COLUMN IF NOT EXISTS erasure_requested_at timestamptz;

-- Requests to erase an agent. operation_id is the agent's own; null if its owner asked. Texts go at due_at (erased_at); key and tokens
-- go when the last open order has closed (done_at). A cancelled request stays, so that a repeat of it begins no new one.
CREATE TABLE IF NOT EXISTS erasures (
  id uuid PRIMARY KEY,
  bot_id uuid NOT NULL CONSTRAINT erasures_bots_bot REFERENCES bots (id),
  operation_id uuid,
  requested_by text NOT NULL CONSTRAINT erasures_requested_by CHECK (requested_by IN ('agent', 'owner')),
  requested_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  cancelled_at timestamptz,
  erased_at timestamptz,
  done_at timestamptz
);
CREATE UNIQUE INDEX IF NOT EXISTS erasures_current ON erasures (bot_id) WHERE cancelled_at IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS erasures_operation ON erasures (bot_id, operation_id);
CREATE INDEX IF NOT EXISTS erasures_open ON erasures (due_at) WHERE cancelled_at IS NULL AND done_at IS NULL;

-- What owners ask for on their pages. bot_id is set once a request is found to be right, which its answer does not tell.
CREATE TABLE IF NOT EXISTS owner_requests (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  purpose text NOT NULL CONSTRAINT owner_requests_purpose CHECK (purpose IN ('export', 'erase')),
  handle text NOT NULL,
  address text NOT NULL,
  bot_id uuid CONSTRAINT owner_requests_bots_bot REFERENCES bots (id),
  confirmed_at timestamptz
);
CREATE INDEX IF NOT EXISTS owner_requests_bot ON owner_requests (bot_id, created_at) WHERE bot_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS owner_requests_created_at ON owner_requests (created_at);

-- Archives of what an agent has here. by_owner: its owner asked, and gets the owner's version. reserved_bytes count towards the
-- bytes of all exports until the sizes of the parts are known. truncated names the member at which a full archive ended. swept_at is when
-- its objects were deleted from the file store.
CREATE TABLE IF NOT EXISTS exports (
  id uuid PRIMARY KEY,
  bot_id uuid NOT NULL CONSTRAINT exports_bots_bot REFERENCES bots (id),
  operation_id uuid,
  by_owner boolean NOT NULL,
  include_files boolean NOT NULL,
  state text NOT NULL CONSTRAINT exports_state CHECK (state IN ('pending', 'ready', 'failed', 'expired')),
  reserved_bytes bigint NOT NULL,
  truncated jsonb,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  swept_at timestamptz
);
CREATE UNIQUE INDEX IF NOT EXISTS exports_operation ON exports (bot_id, operation_id);
CREATE UNIQUE INDEX IF NOT EXISTS exports_pending ON exports (bot_id, by_owner) WHERE state = 'pending';
CREATE INDEX IF NOT EXISTS exports_kept ON exports (expires_at) WHERE swept_at IS NULL;
CREATE INDEX IF NOT EXISTS exports_created_at ON exports (created_at);
CREATE TABLE IF NOT EXISTS export_parts (
  export_id uuid NOT NULL CONSTRAINT export_parts_exports_export REFERENCES exports (id) ON DELETE CASCADE,
  n integer NOT NULL,
  object text NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 bytea NOT NULL,
  PRIMARY KEY (export_id, n)
);

ALTER TABLE mails DROP CONSTRAINT IF EXISTS mails_kind, ADD CONSTRAINT mails_kind CHECK (kind IN ('test', 'registration_code', 'link_code',
  'registration_refused', 'restore_link', 'trash_notice', 'export_link', 'erase_link', 'erasure_notice')) NOT VALID;
ALTER TABLE mails VALIDATE CONSTRAINT mails_kind;
RESET lock_timeout;

-- +goose Down
DELETE FROM mails WHERE kind IN ('export_link', 'erase_link', 'erasure_notice');
ALTER TABLE mails DROP CONSTRAINT IF EXISTS mails_kind, ADD CONSTRAINT mails_kind CHECK (kind IN ('test', 'registration_code', 'link_code',
  'registration_refused', 'restore_link', 'trash_notice')) NOT VALID;
DROP TABLE IF EXISTS export_parts;
DROP TABLE IF EXISTS exports;
DROP TABLE IF EXISTS owner_requests;
DROP TABLE IF EXISTS erasures;
ALTER TABLE bots DROP COLUMN IF EXISTS erasure_requested_at;
