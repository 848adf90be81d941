-- To which key of an installation the database belongs.

-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The one row is written by the first server that starts. Nothing can be derived from a fingerprint.
CREATE TABLE installation_key (
  id bigint PRIMARY KEY DEFAULT 1,
  fingerprint text NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT installation_key_single_row CHECK (id = 1)
);

-- +goose Down
DROP TABLE installation_key;
