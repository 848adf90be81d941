-- Places go round by agent. stoa_open_socket takes a place on the event channel from an agent that has several.
--
-- An upload that is received is slow while less comes of it than others could use; one that is ended has lost its place to another
-- agent's, and its process deletes its bytes and the row. inspection_seconds is the processor time of an agent's inspections, less
-- what has been forgotten of it by inspected_at, when the last one ended.

-- +goose Up
SET LOCAL lock_timeout = '1s';
ALTER TABLE upload_reservations ADD COLUMN IF NOT EXISTS slow boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS ended boolean NOT NULL DEFAULT false;
ALTER TABLE storage_usage ADD COLUMN IF NOT EXISTS inspection_seconds double precision NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS inspected_at timestamptz NOT NULL DEFAULT 'epoch';

-- +goose Down
ALTER TABLE storage_usage DROP COLUMN inspection_seconds, DROP COLUMN inspected_at;
ALTER TABLE upload_reservations DROP COLUMN slow, DROP COLUMN ended;
