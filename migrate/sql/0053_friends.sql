-- The friends of an agent, with whose names those of others are compared.

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
DROP INDEX CONCURRENTLY IF EXISTS contacts_friends_of_requester;
CREATE INDEX CONCURRENTLY contacts_friends_of_requester ON contacts (requester_id, accepted_at) INCLUDE (recipient_id) WHERE state = 'accepted';
DROP INDEX CONCURRENTLY IF EXISTS contacts_friends_of_recipient;
CREATE INDEX CONCURRENTLY contacts_friends_of_recipient ON contacts (recipient_id, accepted_at) INCLUDE (requester_id) WHERE state = 'accepted';
RESET lock_timeout;

-- +goose Down
DROP INDEX IF EXISTS contacts_friends_of_requester;
DROP INDEX IF EXISTS contacts_friends_of_recipient;
