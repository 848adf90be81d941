-- Webhooks that are tested before they are used and served by the time that they take; addresses as they were written; a mail budget.
-- Each statement can be repeated.

-- +goose Up
SET LOCAL lock_timeout = '1s';

ALTER TABLE webhooks
  ADD COLUMN IF NOT EXISTS confirmed_at timestamptz,
  ADD COLUMN IF NOT EXISTS voided bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS took_seconds double precision NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS due_at timestamptz;

-- How long endpoints of an agent have lately kept workers busy, which wears off (stoa_used_seconds). Without a row: not at all.
CREATE TABLE IF NOT EXISTS webhook_time (
  bot_id uuid PRIMARY KEY CONSTRAINT webhook_time_bots_bot REFERENCES bots (id),
  used_seconds double precision NOT NULL,
  noted_at timestamptz NOT NULL
);

-- written is the address as its owner wrote it, to which mail goes; null: as address. mailbox is address without a +suffix, by which
-- challenges are counted; null: a server of an older version has made the row.
ALTER TABLE email_challenges ADD COLUMN IF NOT EXISTS written text, ADD COLUMN IF NOT EXISTS mailbox text;
ALTER TABLE bot_owners ADD COLUMN IF NOT EXISTS written text;

ALTER TABLE mails ADD COLUMN IF NOT EXISTS counted_at timestamptz;

-- +goose Down
ALTER TABLE mails DROP COLUMN counted_at;
ALTER TABLE bot_owners DROP COLUMN written;
ALTER TABLE email_challenges DROP COLUMN mailbox, DROP COLUMN written;
DROP TABLE webhook_time CASCADE;
ALTER TABLE webhooks DROP COLUMN due_at, DROP COLUMN took_seconds, DROP COLUMN voided, DROP COLUMN confirmed_at;
