-- Receipts whose participants are to be told once the key log has their entry: told_at is infinity. Servers of 0.2 tell them when
-- they sign and leave it null, so nobody is told twice while both versions run.

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
DROP INDEX CONCURRENTLY IF EXISTS receipts_to_tell;
CREATE INDEX CONCURRENTLY receipts_to_tell ON receipts (created_at) WHERE told_at = 'infinity' AND kind = 'order';
DROP INDEX CONCURRENTLY IF EXISTS receipts_untold;
RESET lock_timeout;

-- +goose Down
DROP INDEX IF EXISTS receipts_to_tell;
