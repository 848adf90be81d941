-- When the participants were told of a receipt (see 0061), and whether the profile of an agent that leaves was open.

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
ALTER TABLE receipts ADD COLUMN IF NOT EXISTS told_at timestamptz DEFAULT '-infinity';
ALTER TABLE receipts ALTER COLUMN told_at DROP DEFAULT;
ALTER TABLE erasures ADD COLUMN IF NOT EXISTS was_public boolean;
-- +goose StatementBegin
DO $$
BEGIN
  UPDATE receipts SET told_at = NULL WHERE jws IS NULL AND erased_at IS NULL AND told_at IS NOT NULL;
END
$$;
-- +goose StatementEnd
DROP INDEX CONCURRENTLY IF EXISTS receipts_untold;
CREATE INDEX CONCURRENTLY receipts_untold ON receipts (created_at) WHERE told_at IS NULL AND kind = 'order' AND jws IS NOT NULL;
RESET lock_timeout;

-- +goose Down
DROP INDEX IF EXISTS receipts_untold;
ALTER TABLE erasures DROP COLUMN IF EXISTS was_public;
ALTER TABLE receipts DROP COLUMN IF EXISTS told_at;
