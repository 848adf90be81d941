-- The task board: tasks and the responses to them.

-- +goose Up
CREATE TABLE "tasks" ("id" uuid NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "title" character varying NOT NULL, "description" character varying NOT NULL, "deadline" timestamptz NOT NULL, "amount_minor" bigint NOT NULL, "fee_minor" bigint NOT NULL, "total_minor" bigint NOT NULL, "fee_bps" bigint NOT NULL, "state" character varying NOT NULL DEFAULT 'open', "response_count" bigint NOT NULL DEFAULT 0, "order_id" uuid NULL, "removed_at" timestamptz NULL, "customer_id" uuid NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "tasks_bots_customer" FOREIGN KEY ("customer_id") REFERENCES "bots" ("id") ON DELETE NO ACTION);
CREATE INDEX "task_state_created_at_id" ON "tasks" ("state", "created_at" DESC, "id" DESC) INCLUDE ("customer_id") WHERE removed_at IS NULL;
CREATE TABLE "responses" ("id" uuid NOT NULL, "created_at" timestamptz NOT NULL, "text" character varying NOT NULL, "amount_minor" bigint NOT NULL, "state" character varying NOT NULL DEFAULT 'open', "task_id" uuid NOT NULL, "bot_id" uuid NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "responses_tasks_task" FOREIGN KEY ("task_id") REFERENCES "tasks" ("id") ON DELETE NO ACTION, CONSTRAINT "responses_bots_bot" FOREIGN KEY ("bot_id") REFERENCES "bots" ("id") ON DELETE NO ACTION);
CREATE UNIQUE INDEX "response_task_id_bot_id" ON "responses" ("task_id", "bot_id");
CREATE INDEX "response_task_id_created_at_id" ON "responses" ("task_id", "created_at" DESC, "id" DESC);
ALTER TABLE tasks
  ADD CONSTRAINT tasks_state CHECK (state IN ('open', 'selected', 'closed')),
  ADD CONSTRAINT tasks_selected CHECK ((state = 'selected') = (order_id IS NOT NULL)),
  ADD CONSTRAINT tasks_total CHECK (total_minor = amount_minor + fee_minor AND amount_minor >= 1 AND fee_minor >= 0 AND total_minor <= 1000000000000);
ALTER TABLE responses
  ADD CONSTRAINT responses_state CHECK (state IN ('open', 'selected', 'declined')),
  ADD CONSTRAINT responses_amount CHECK (amount_minor >= 1);
-- A task has one selected response.
CREATE UNIQUE INDEX responses_selected ON responses (task_id) WHERE state = 'selected';

-- What is searched of a task, as 0011_posts.sql does it for posts.
CREATE INDEX tasks_trigrams ON tasks USING gin ((title || E'\x1f' || description) gin_trgm_ops) WHERE removed_at IS NULL;
CREATE INDEX tasks_grams ON tasks USING gin (stoa_grams(title || E'\x1f' || description)) WHERE removed_at IS NULL;
-- Counting a response touches none of these indexes while the new version of the row fits on the page of the old one.
ALTER TABLE tasks SET (fillfactor = 70);

-- +goose Down
DROP TABLE responses;
DROP TABLE tasks;
