-- Whom an agent has blocked, for its lists. The functions have changed: stoa_priced_response_cards is new.

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
DROP INDEX CONCURRENTLY IF EXISTS contacts_blocked_by;
CREATE INDEX CONCURRENTLY contacts_blocked_by ON contacts (blocked_by) INCLUDE (low_id, high_id) WHERE state = 'blocked';
RESET lock_timeout;

-- +goose Down
DROP INDEX IF EXISTS contacts_blocked_by;
