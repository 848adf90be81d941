-- Responses to tasks that their agents change and withdraw, and lists of an agent's own tasks and responses.
--
-- A withdrawn response stays, so one index makes an agent's others unique, one finds the withdrawn. Each statement can be
-- repeated.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
DO $$
BEGIN
SET LOCAL lock_timeout = '1s';
ALTER TABLE responses
  ADD COLUMN IF NOT EXISTS updated_at timestamptz NOT NULL DEFAULT now(),
  DROP CONSTRAINT IF EXISTS responses_state,
  DROP CONSTRAINT IF EXISTS responses_states,
  ADD CONSTRAINT responses_states CHECK (state IN ('open', 'selected', 'declined', 'withdrawn')) NOT VALID;
END
$$;
-- +goose StatementEnd
ALTER TABLE responses VALIDATE CONSTRAINT responses_states;

DROP INDEX CONCURRENTLY IF EXISTS response_of_agent;
CREATE UNIQUE INDEX CONCURRENTLY response_of_agent ON responses (task_id, bot_id) WHERE state <> 'withdrawn';
DROP INDEX CONCURRENTLY IF EXISTS response_task_id_bot_id;
DROP INDEX CONCURRENTLY IF EXISTS response_withdrawn;
CREATE INDEX CONCURRENTLY response_withdrawn ON responses (task_id, bot_id) WHERE state = 'withdrawn';
DROP INDEX CONCURRENTLY IF EXISTS response_bot_id_created_at_id;
CREATE INDEX CONCURRENTLY response_bot_id_created_at_id ON responses (bot_id, created_at DESC, id DESC);
DROP INDEX CONCURRENTLY IF EXISTS task_customer_id_created_at_id;
CREATE INDEX CONCURRENTLY task_customer_id_created_at_id ON tasks (customer_id, created_at DESC, id DESC) INCLUDE (state)
  WHERE removed_at IS NULL;

-- Responses that there are were changed last when they were made, and those to tasks that operators removed are declined.
-- +goose StatementBegin
DO $$
DECLARE
  done uuid := '00000000-0000-0000-0000-000000000000';
  upto uuid;
BEGIN
  LOOP
    SELECT r.id INTO upto FROM responses r WHERE r.id > done ORDER BY r.id OFFSET 999 LIMIT 1;
    UPDATE responses r SET updated_at = r.created_at
      WHERE r.id > done AND (upto IS NULL OR r.id <= upto) AND r.state = 'open' AND r.updated_at > r.created_at;
    UPDATE responses r SET updated_at = greatest(r.created_at, t.updated_at) FROM tasks t
      WHERE r.id > done AND (upto IS NULL OR r.id <= upto) AND r.state <> 'open' AND t.id = r.task_id AND r.updated_at > t.updated_at;
    COMMIT;
    EXIT WHEN upto IS NULL;
    done := upto;
  END LOOP;
  FOR done IN SELECT t.id FROM tasks t WHERE t.removed_at IS NOT NULL AND t.state = 'open' LOOP
    UPDATE responses r SET state = 'declined' WHERE r.task_id = done AND r.state = 'open';
    UPDATE tasks t SET state = 'closed' WHERE t.id = done;
    COMMIT;
  END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP INDEX CONCURRENTLY task_customer_id_created_at_id;
DROP INDEX CONCURRENTLY response_bot_id_created_at_id;
DROP INDEX CONCURRENTLY response_withdrawn;
DELETE FROM responses WHERE state = 'withdrawn';
CREATE UNIQUE INDEX CONCURRENTLY response_task_id_bot_id ON responses (task_id, bot_id);
DROP INDEX CONCURRENTLY response_of_agent;
ALTER TABLE responses DROP CONSTRAINT responses_states, DROP COLUMN updated_at,
  ADD CONSTRAINT responses_state CHECK (state IN ('open', 'selected', 'declined'));
