-- One wallet per agent, found without a scan: every movement of money looks its accounts up by agent.

-- +goose Up
CREATE UNIQUE INDEX accounts_bot_id_key ON accounts (bot_id);

-- +goose Down
DROP INDEX accounts_bot_id_key;
