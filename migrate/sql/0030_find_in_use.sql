-- Operators find an owner's agents by the address.

-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS bot_owner_address;
CREATE INDEX CONCURRENTLY bot_owner_address ON bot_owners (address);

-- +goose Down
DROP INDEX CONCURRENTLY bot_owner_address;
