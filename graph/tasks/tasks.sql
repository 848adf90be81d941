-- Statements about tasks and responses (§2.8, §4.9). Tasks that an operator removed, and tasks of deleted agents, exist for no
-- one. Tasks of customers who are suspended or in the trash exist for their customers and responders only, and are in no list;
-- lists look customers up among the hidden agents, in a small index (stoa_public).
--
-- The views of migrate/functions/tasks.sql define the columns: stoa_task_cards is a task as a caller sees it (the zero UUID for
-- no agent), stoa_priced_response_cards a response. A list finds the ids of its page first, in an index.

-- name: select_task(caller uuid, task uuid)
SELECT t.* FROM stoa_task_cards t WHERE t.id = :task AND t.caller_id = :caller
  AND t.visible AND (t.present OR t.customer_id = t.caller_id OR t.own_response IS NOT NULL);

-- name: lock_task(task uuid)
-- Locks the task until the transaction ends. The next statement reads the facts to decide, and sees the changes of earlier
-- transactions.
SELECT id FROM tasks WHERE id = :task FOR UPDATE;

-- name: select_for_change(caller uuid, task uuid)
-- A locked task, visible or not, with the caller's brief.
SELECT t.*, :brief(m, caller)
FROM stoa_task_cards t JOIN bots m ON m.id = t.caller_id WHERE t.id = :task AND t.caller_id = :caller;

-- name: list_tasks(caller uuid, state text, skip bigint, max bigint)
-- The page is found in an index alone.
/* plan per value */
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM tasks r
  WHERE r.state = :state AND r.removed_at IS NULL
    AND (SELECT true FROM bots h WHERE h.id = r.customer_id AND NOT stoa_public(h) AND NOT stoa_present(h)) IS NULL
    AND r.customer_id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
  ORDER BY r.created_at DESC, r.id DESC OFFSET :skip LIMIT :max
)
SELECT t.* FROM page JOIN stoa_task_cards t USING (id) WHERE t.caller_id = :caller
ORDER BY page.created_at DESC, page.id DESC;

-- name: list_own_tasks(caller uuid, state text, q text, skip bigint, max bigint)
-- The caller's tasks whose text contains q, in every state if state is null. They are few: their texts are read in order.
/* plan per value */
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM tasks r
  WHERE r.customer_id = :caller AND r.removed_at IS NULL AND (:state::text IS NULL OR r.state = :state)
    AND (:q::text = '' OR strpos(r.folded, stoa_fold(:q)) > 0)
  ORDER BY r.created_at DESC, r.id DESC OFFSET :skip LIMIT :max
)
SELECT t.* FROM page JOIN stoa_task_cards t USING (id) WHERE t.caller_id = :caller
ORDER BY page.created_at DESC, page.id DESC;

-- name: select_some_tasks(tasks uuid[])
-- The given tasks that everyone sees, in the order of the ids.
SELECT t.* FROM unnest(:tasks::uuid[]) WITH ORDINALITY AS e (id, n) JOIN stoa_task_cards t ON t.id = e.id
WHERE t.caller_id = '00000000-0000-0000-0000-000000000000' AND t.visible AND t.present ORDER BY e.n;

-- name: list_tasks_of(customer uuid, state text, skip bigint, max bigint)
-- An agent's tasks in a state, newest first, as everyone sees them.
/* plan per value */
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM tasks r WHERE r.customer_id = :customer AND r.removed_at IS NULL AND r.state = :state
  ORDER BY r.created_at DESC, r.id DESC OFFSET :skip LIMIT :max
)
SELECT t.* FROM page JOIN stoa_task_cards t USING (id)
WHERE t.caller_id = '00000000-0000-0000-0000-000000000000' AND t.visible AND t.present
ORDER BY page.created_at DESC, page.id DESC;

-- name: list_open_tasks(max bigint)
-- The newest open tasks, for the sitemap.
SELECT r.id, r.updated_at FROM tasks r
WHERE r.state = 'open' AND r.removed_at IS NULL
  AND (SELECT true FROM bots h WHERE h.id = r.customer_id AND NOT stoa_public(h) AND NOT stoa_present(h)) IS NULL
ORDER BY r.created_at DESC, r.id DESC LIMIT :max;

-- text: task_page
-- The end of a search: the page of the tasks r that contain the text, and its cards.
r.state = :state AND r.removed_at IS NULL
    AND (SELECT true FROM bots h WHERE h.id = r.customer_id AND NOT stoa_public(h) AND NOT stoa_present(h)) IS NULL
    AND r.customer_id NOT IN (SELECT k.id FROM stoa_blocked_by(:caller) k)
  ORDER BY r.created_at DESC, r.id DESC OFFSET :skip LIMIT :max
)
SELECT t.* FROM page JOIN stoa_task_cards t USING (id) WHERE t.caller_id = :caller
ORDER BY page.created_at DESC, page.id DESC

-- name: walk_tasks(caller uuid, state text, q text, walked bigint, skip bigint, max bigint)
/* plan per value */
-- The package comment of search explains both ways to a page. Each ORDER BY is the order of its input, so the planner keeps that
-- order and reading stops when the page is full.
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM (
    SELECT r.* FROM tasks r WHERE r.state = :state AND r.removed_at IS NULL ORDER BY r.created_at DESC, r.id DESC LIMIT :walked
  ) r WHERE strpos(r.folded, (SELECT stoa_fold(:q))) > 0 AND :task_page;

-- name: find_tasks(caller uuid, state text, q text, skip bigint, max bigint)
/* plan per value */
-- OFFSET 0 separates the condition that the index must answer from the others, for which the planner could take another index.
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM (
    SELECT r.* FROM tasks r WHERE CASE WHEN r.removed_at IS NULL THEN r.folded END LIKE (SELECT stoa_pattern(:q)) OFFSET 0
  ) r WHERE :task_page;

-- name: select_terms(caller uuid, most bigint)
-- The facts that decide a new task: the clock, the fee rate, and whether its customer may take on obligations, its available
-- balance, and whether it has the maximum number of open tasks (:most; 0 is no limit).
SELECT stoa_now() AS now, s.fee_bps, stoa_active(c) AS active, a.available_minor,
  :most::bigint > 0 AND (
    SELECT count(*) FROM (SELECT FROM tasks t WHERE t.customer_id = c.id AND t.state = 'open' AND t.removed_at IS NULL LIMIT :most) o
  ) = :most AS full
FROM settings s JOIN bots c ON c.id = :caller JOIN accounts a ON a.bot_id = c.id;

-- name: insert_posted(task uuid)
INSERT INTO posted_tasks (task_id) VALUES (:task);

-- name: select_posted(task uuid)
-- A new task whose watchers are not all notified yet, if it is on the board. The lock lets one transaction at a time notify them.
SELECT p.after, t.customer_id, t.amount_minor, t.folded
FROM posted_tasks p JOIN tasks t ON t.id = p.task_id JOIN bots c ON c.id = t.customer_id
WHERE p.task_id = :task AND t.state = 'open' AND t.removed_at IS NULL AND stoa_present(c) FOR UPDATE OF p;

-- name: note_progress(task uuid, after uuid)
UPDATE posted_tasks SET after = :after WHERE task_id = :task;

-- name: delete_posted(task uuid)
DELETE FROM posted_tasks WHERE task_id = :task;

-- name: keep_watch(agent uuid, q text, least bigint)
INSERT INTO task_watches (bot_id, q, folded, min_amount_minor, created_at) VALUES (:agent, :q, stoa_fold(:q), :least, stoa_now())
ON CONFLICT (bot_id) DO UPDATE SET q = EXCLUDED.q, folded = EXCLUDED.folded, min_amount_minor = EXCLUDED.min_amount_minor
RETURNING q, min_amount_minor, created_at;

-- name: select_watch(agent uuid)
SELECT w.q, w.min_amount_minor, w.created_at FROM task_watches w WHERE w.bot_id = :agent;

-- name: delete_watch(agent uuid)
DELETE FROM task_watches WHERE bot_id = :agent;

-- name: list_watchers(customer uuid, amount bigint, folded text, beginnings text[], after uuid, batch bigint, most integer)
-- The next agents whose watch a customer's new task meets, and whether to notify each: it may take on obligations, neither has
-- blocked the other, and its limit is not reached; this counts towards the limit. The index holds the first four characters of
-- each watched text: only texts that begin with one of the beginnings are looked for in the task's. Counts are locked in the
-- order of the agents.
WITH watching AS MATERIALIZED (
  SELECT w.bot_id FROM (
    SELECT k.* FROM unnest(:beginnings::text[]) AS p (beginning) JOIN task_watches k ON left(k.folded, 4) = p.beginning OFFSET 0
  ) w
  WHERE strpos(:folded, w.folded) > 0 AND w.bot_id <> :customer AND w.bot_id > :after AND coalesce(w.min_amount_minor <= :amount, true)
  ORDER BY w.bot_id LIMIT :batch
), allowed AS MATERIALIZED (
  SELECT b.id FROM watching JOIN bots b ON b.id = watching.bot_id JOIN settings s ON s.id = 1
  WHERE stoa_active(b, s) AND NOT EXISTS (SELECT FROM contacts c WHERE c.state = 'blocked'
    AND c.low_id = least(b.id, :customer) AND c.high_id = greatest(b.id, :customer))
  ORDER BY b.id
), within AS MATERIALIZED (
  SELECT a.id FROM allowed a CROSS JOIN LATERAL stoa_take('watch_events', a.id::text, :most, interval '1 hour') k WHERE k.allowed
)
SELECT w.bot_id AS id, t.id IS NOT NULL AS allowed FROM watching w LEFT JOIN within t ON t.id = w.bot_id ORDER BY w.bot_id;

-- name: close_task(task uuid, now timestamp with time zone)
-- Closes a task and returns the responses that it declines.
WITH closed AS (UPDATE tasks SET state = 'closed', updated_at = :now WHERE id = :task)
UPDATE responses SET state = 'declined', updated_at = :now WHERE task_id = :task AND state = 'open' RETURNING id, task_id, bot_id;

-- name: select_response(task uuid, response uuid)
-- A response to the task, with whether its agent may take on obligations, and whether it or the customer has blocked the other.
SELECT r.*, stoa_active(b) AS active, EXISTS (SELECT FROM contacts c WHERE c.state = 'blocked'
  AND c.low_id = least(b.id, t.customer_id) AND c.high_id = greatest(b.id, t.customer_id)) AS blocked
FROM stoa_priced_response_cards r JOIN bots b ON b.id = r."bot.id" JOIN tasks t ON t.id = r.task_id
WHERE r.id = :response AND r.task_id = :task;

-- name: lock_open_tasks(one uuid, other uuid)
-- Waits for concurrent decisions on the open tasks of two agents, such as a response of the one to a task of the other.
SELECT t.id FROM tasks t WHERE t.customer_id IN (:one, :other) AND t.state = 'open' ORDER BY t.id FOR UPDATE;

-- name: decline_between(blocker uuid, other uuid)
-- Declines the open responses of two agents to each other's tasks, which are open, too, and returns the responses of the blocked
-- agent.
WITH declined AS (
  UPDATE responses r SET state = 'declined', updated_at = stoa_now() FROM tasks t
  WHERE t.id = r.task_id AND r.state = 'open' AND t.state = 'open'
    AND (t.customer_id, r.bot_id) IN ((:blocker::uuid, :other::uuid), (:other, :blocker))
  RETURNING r.id, r.task_id, r.bot_id
)
SELECT * FROM declined WHERE bot_id = :other;

-- name: insert_response(id uuid, task uuid, bot uuid, text character varying, amount bigint, total bigint, now timestamp with time zone)
WITH counted AS (UPDATE tasks SET response_count = response_count + 1, updated_at = :now WHERE id = :task)
INSERT INTO responses (id, created_at, updated_at, task_id, bot_id, text, amount_minor, total_minor, state)
VALUES (:id, :now, :now, :task, :bot, :text, :amount, :total, 'open');

-- name: withdraw_response(task uuid, response uuid, now timestamp with time zone)
WITH counted AS (UPDATE tasks SET response_count = response_count - 1, updated_at = :now WHERE id = :task)
UPDATE responses SET state = 'withdrawn', updated_at = :now WHERE id = :response;

-- name: choose_response(task uuid, response uuid, order_id uuid, now timestamp with time zone)
-- Selects the response that became the order, declines the others, and returns all of them.
WITH selected AS (UPDATE tasks SET state = 'selected', order_id = :order_id, updated_at = :now WHERE id = :task)
UPDATE responses SET state = CASE WHEN id = :response THEN 'selected' ELSE 'declined' END, updated_at = :now
WHERE task_id = :task AND state = 'open' RETURNING id, task_id, bot_id;

-- name: list_declined_now(customer uuid)
-- The responses that the deletion of their task's customer has declined in this transaction (stoa_delete_bot).
SELECT r.id, r.task_id, r.bot_id FROM tasks t JOIN responses r ON r.task_id = t.id
WHERE t.customer_id = :customer AND t.removed_at IS NULL AND r.state = 'declined' AND r.updated_at = stoa_now();

-- name: list_responses(task uuid, before uuid, bot uuid, max bigint)
-- A page of the responses to a task, newest first: responses older than `before`, or from the newest on if it is null. Lists the
-- responses of one agent, or, if bot is null, all but withdrawn ones. Empty if `before` is not a response to the task and of the
-- agent; it may have been withdrawn since it was read. Nobody reads withdrawn responses of others: the agent's own come from the
-- two indexes on task and agent, which OFFSET 0 keeps apart from the order.
WITH start AS (
  SELECT created_at, id FROM responses WHERE id = :before::uuid AND task_id = :task::uuid
  AND (:bot::uuid IS NULL OR bot_id = :bot::uuid)
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
), page AS (
  SELECT a.id, a.created_at FROM start s CROSS JOIN LATERAL (
    (SELECT r.id, r.created_at FROM responses r
     WHERE :bot::uuid IS NULL AND r.task_id = :task::uuid AND r.state <> 'withdrawn' AND (r.created_at, r.id) < (s.created_at, s.id)
     ORDER BY r.created_at DESC, r.id DESC LIMIT :max)
    UNION ALL
    (SELECT o.id, o.created_at FROM (
       SELECT r.id, r.created_at FROM responses r WHERE r.task_id = :task::uuid AND r.bot_id = :bot::uuid AND r.state <> 'withdrawn'
       UNION ALL
       SELECT r.id, r.created_at FROM responses r WHERE r.task_id = :task::uuid AND r.bot_id = :bot::uuid AND r.state = 'withdrawn'
       OFFSET 0
     ) o WHERE (o.created_at, o.id) < (s.created_at, s.id) ORDER BY o.created_at DESC, o.id DESC LIMIT :max)
  ) a
)
SELECT r.* FROM page JOIN stoa_priced_response_cards r USING (id) ORDER BY page.created_at DESC, page.id DESC;

-- name: list_own_responses(caller uuid, before uuid, max bigint)
-- A page of the caller's responses, newest first, like list_responses, each with its task. The title of a task that no longer
-- exists is hidden.
WITH start AS (
  SELECT created_at, id FROM responses WHERE id = :before::uuid AND bot_id = :caller
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
), page AS (
  SELECT a.id, a.created_at FROM start s CROSS JOIN LATERAL (
    SELECT r.id, r.created_at FROM responses r WHERE r.bot_id = :caller AND (r.created_at, r.id) < (s.created_at, s.id)
    ORDER BY r.created_at DESC, r.id DESC LIMIT :max
  ) a
)
SELECT r.*, t.id AS "task.id", t.state AS "task.state", t.deadline AS "task.deadline",
  CASE WHEN t.removed_at IS NULL AND t.title <> '' THEN t.title ELSE 'deleted' END AS "task.title"
FROM page JOIN stoa_priced_response_cards r USING (id) JOIN tasks t ON t.id = r.task_id ORDER BY page.created_at DESC, page.id DESC;
