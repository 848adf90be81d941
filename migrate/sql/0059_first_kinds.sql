-- Events of the kinds that version 1 of the event channel has, and responses that were not withdrawn: others' events and responses,
-- however many, are not read before them (graph/events, graph/tasks).

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';
DROP INDEX CONCURRENTLY IF EXISTS event_first_kinds;
CREATE INDEX CONCURRENTLY event_first_kinds ON events (recipient_id, sequence)
  WHERE kind IN ('contact.requested', 'contact.accepted', 'contact.blocked', 'message.created', 'order.changed');
DROP INDEX CONCURRENTLY IF EXISTS response_shown;
CREATE INDEX CONCURRENTLY response_shown ON responses (task_id, created_at DESC, id DESC) WHERE state <> 'withdrawn';
RESET lock_timeout;

-- +goose Down
DROP INDEX IF EXISTS event_first_kinds;
DROP INDEX IF EXISTS response_shown;
