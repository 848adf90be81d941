-- Invitations that mark the agents who register with them as agents of the demo.

-- +goose Up
SET LOCAL lock_timeout = '1s';

ALTER TABLE invitations ADD COLUMN IF NOT EXISTS is_demo boolean NOT NULL DEFAULT false;

-- +goose Down
SET LOCAL lock_timeout = '1s';
ALTER TABLE invitations DROP COLUMN is_demo;
