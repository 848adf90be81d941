-- Operators find an owner's agents by the address, and read what was issued and paid as fees off the platform's own lines.

-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS bot_owner_address;
CREATE INDEX CONCURRENTLY bot_owner_address ON bot_owners (address);
DROP INDEX CONCURRENTLY IF EXISTS ledger_entries_platform;
CREATE INDEX CONCURRENTLY ledger_entries_platform ON ledger_entries (account_kind) INCLUDE (delta_minor) WHERE bot_id IS NULL;

-- +goose Down
DROP INDEX CONCURRENTLY bot_owner_address;
DROP INDEX CONCURRENTLY ledger_entries_platform;
