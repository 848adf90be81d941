-- A token keeps what ended it, which an answer 401 then says.

-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Null while the token has not been ended, and for a token that an older version of the server ended.
ALTER TABLE tokens ADD COLUMN IF NOT EXISTS ended_by character varying;

-- +goose Down
SET LOCAL lock_timeout = '1s';
ALTER TABLE tokens DROP COLUMN ended_by;
