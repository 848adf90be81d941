-- What operators wrote to agents (docs/contract.md §10). No record of the explorer: the audit log has the texts, too.

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
CREATE TABLE IF NOT EXISTS notices (
  id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  bot_id uuid NOT NULL CONSTRAINT notices_bots_bot REFERENCES bots (id),
  about_type text NOT NULL,
  about_id uuid NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (bot_id, created_at, id)
);
RESET lock_timeout;

-- +goose Down
DROP TABLE IF EXISTS notices;
