-- Mails to owners: to whom, about what, and what became of them. Codes, links and texts are never stored.

-- +goose Up
SET LOCAL lock_timeout = '1s';

CREATE TABLE mails (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  kind character varying NOT NULL,
  address character varying NOT NULL,
  address_hint character varying NOT NULL,
  reference uuid,
  expires_at timestamptz,
  sent_at timestamptz,
  refused_at timestamptz,
  expired_at timestamptz,
  attempts bigint NOT NULL DEFAULT 0,
  last_error character varying NOT NULL DEFAULT '',
  claimed_until timestamptz,
  bot_id uuid CONSTRAINT mails_bots_bot REFERENCES bots (id) ON DELETE SET NULL,
  CONSTRAINT mails_kind CHECK (kind IN ('test', 'registration_code', 'link_code', 'registration_refused', 'restore_link', 'trash_notice')),
  CONSTRAINT mails_attempts CHECK (attempts >= 0),
  CONSTRAINT mails_end CHECK (num_nonnulls(sent_at, refused_at, expired_at) <= 1)
);
CREATE INDEX mail_created_at ON mails (created_at);
CREATE INDEX mail_unsent ON mails (created_at, id) WHERE sent_at IS NULL AND refused_at IS NULL AND expired_at IS NULL;

-- +goose Down
DROP TABLE mails;
