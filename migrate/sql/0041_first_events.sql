-- The functions have changed: stoa_first_events is new.

-- +goose Up
SET LOCAL lock_timeout = '1s';

-- +goose Down
