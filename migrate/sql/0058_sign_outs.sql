-- How often an operator has signed out: a session counts only until the next time (graph/server). Servers of the version before end
-- only the session of the browser that signs out.

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
ALTER TABLE operators ADD COLUMN IF NOT EXISTS sign_outs integer NOT NULL DEFAULT 0;
RESET lock_timeout;

-- +goose Down
ALTER TABLE operators DROP COLUMN IF EXISTS sign_outs;
