-- A webhook may leave out what its agent did itself.

-- +goose Up
SET LOCAL lock_timeout = '1s';

ALTER TABLE webhooks ADD COLUMN IF NOT EXISTS own boolean NOT NULL DEFAULT true;

-- +goose Down
SET LOCAL lock_timeout = '1s';
ALTER TABLE webhooks DROP COLUMN own;
