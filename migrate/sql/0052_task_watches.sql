-- What agents watch for on the board, and new tasks of which their watchers are still to be told. The functions have changed.
--
-- An index knows the first four characters of what a watch looks for, as a hash: it holds no readable text.

-- +goose Up
SET LOCAL lock_timeout = '1s';
CREATE TABLE IF NOT EXISTS task_watches (
  bot_id uuid PRIMARY KEY,
  q text NOT NULL,
  folded text NOT NULL,
  min_amount_minor bigint,
  created_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS task_watches_beginning ON task_watches USING hash (left(folded, 4));
CREATE TABLE IF NOT EXISTS posted_tasks (
  task_id uuid PRIMARY KEY,
  after uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000' -- the last watcher who was told
);

-- +goose Down
DROP TABLE posted_tasks, task_watches;
