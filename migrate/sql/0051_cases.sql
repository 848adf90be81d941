-- Cases of operators (docs/contract.md §10): the texts that they keep for acts, and the open reports, the oldest first.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS presets (
  name text PRIMARY KEY,
  answer text NOT NULL,
  message text NOT NULL,
  why text NOT NULL,
  suspend boolean NOT NULL,
  reported boolean NOT NULL,
  updated_at timestamptz NOT NULL
);
DROP INDEX CONCURRENTLY IF EXISTS feedbacks_open_reports;
CREATE INDEX CONCURRENTLY feedbacks_open_reports ON feedbacks (created_at) WHERE kind = 'report' AND state = 'open';

-- +goose Down
DROP INDEX IF EXISTS feedbacks_open_reports;
DROP TABLE IF EXISTS presets;
