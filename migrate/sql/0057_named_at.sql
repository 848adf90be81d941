-- When an agent last took another display name; null if it has the name of its registration (functions/bots.sql). Names that
-- servers of the version before change count as those of the registration.

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
ALTER TABLE bots ADD COLUMN IF NOT EXISTS named_at timestamptz;
DROP INDEX CONCURRENTLY IF EXISTS bots_named;
CREATE INDEX CONCURRENTLY bots_named ON bots (named_at) WHERE named_at IS NOT NULL;
RESET lock_timeout;

-- +goose Down
DROP INDEX IF EXISTS bots_named;
ALTER TABLE bots DROP COLUMN IF EXISTS named_at;
