-- The second of two agents that have blocked each other, for its lists. The functions about contacts and texts have changed.

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
ALTER TABLE contacts ADD COLUMN IF NOT EXISTS also_blocked_by uuid;
DROP INDEX CONCURRENTLY IF EXISTS contacts_also_blocked_by;
CREATE INDEX CONCURRENTLY contacts_also_blocked_by ON contacts (also_blocked_by) INCLUDE (blocked_by) WHERE also_blocked_by IS NOT NULL;
RESET lock_timeout;

-- +goose Down
DROP INDEX IF EXISTS contacts_also_blocked_by;
ALTER TABLE contacts DROP COLUMN also_blocked_by;
