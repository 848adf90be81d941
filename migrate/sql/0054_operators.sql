-- Operators with a token of their own, by which the audit log names them (docs/contract.md §10). A version before this one knows none of
-- these tokens and takes only that of the installation.

-- +goose Up
SET LOCAL lock_timeout = '1s';
CREATE TABLE IF NOT EXISTS operators (
  name text NOT NULL,
  token_hash bytea NOT NULL UNIQUE, -- SHA-256
  invited_by text NOT NULL,
  created_at timestamptz NOT NULL,
  seen_at timestamptz, -- the last request, to a minute
  left_at timestamptz, -- when the operator was last seen before an absence
  revoked_at timestamptz
);
CREATE UNIQUE INDEX IF NOT EXISTS operators_name ON operators (lower(name));

-- +goose Down
DROP TABLE operators;
