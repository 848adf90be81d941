-- What the operators' overview shows: how much happened in each minute, and which processes serve.

-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What happened in a minute that is over; a row for each minute, also for one in which nothing happened.
CREATE TABLE activity (
  at timestamptz PRIMARY KEY,
  agents bigint NOT NULL,
  messages bigint NOT NULL,
  orders bigint NOT NULL,
  credits_minor bigint NOT NULL
);

-- The server processes, each of which renews its row.
CREATE TABLE processes (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  roles text[] NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  -- failing names the checks of /readyz that fail, and holds shutting_down while the process drains.
  failing text[] NOT NULL,
  -- Of the disk with the data folder.
  disk_free_bytes bigint NOT NULL,
  disk_total_bytes bigint NOT NULL
);

-- +goose Down
DROP TABLE processes, activity;
