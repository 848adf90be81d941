-- The functions have changed: stoa_open_socket takes a place from an agent that has several.

-- +goose Up
SET LOCAL lock_timeout = '1s';

-- +goose Down
