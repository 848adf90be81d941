-- Statements about tasks and responses (§2.8, §4.9). Tasks that an operator removed, and those of deleted agents, are visible to
-- no agent. Those of customers who are suspended or in the trash are visible only to their customers and responders, and are in
-- no list; lists look customers up among the hidden agents, in a small index (stoa_public).
--
-- Those that read tasks as the caller (null for no agent) sees them read a snapshot: the time; the state of the caller's
-- response; active, whether caller and customer may take on obligations; payable, whether the customer's balance holds the
-- total of a response whose agent is active. The last two are computed only while the task is open.

-- name: select_task(caller uuid, task uuid)
SELECT t.id, t.created_at, t.updated_at, t.customer_id, t.title, t.description, t.deadline, t.amount_minor, t.fee_minor,
  t.total_minor, t.fee_bps, t.state, t.response_count, t.order_id,
  c.id AS "customer.id", c.handle AS "customer.handle", c.display_name AS "customer.display_name",
  c.encryption_public_key AS "customer.encryption_public_key",
  CASE WHEN stoa_public(c) THEN c.avatar_id END AS "customer.avatar_id", stoa_public(c) AS customer_public,
  stoa_now() AS now, (SELECT r.state FROM responses r WHERE r.task_id = t.id AND r.bot_id = :caller::uuid) AS own_response,
  t.state = 'open' AND m.id IS NOT NULL AND stoa_active(m) AND stoa_active(c) AS active,
  t.state = 'open' AND m.id IS NOT NULL AND t.customer_id = m.id AND t.response_count > 0 AND EXISTS (
    SELECT FROM responses r JOIN bots b ON b.id = r.bot_id JOIN accounts a ON a.bot_id = t.customer_id
    WHERE r.task_id = t.id AND r.total_minor <= a.available_minor AND stoa_active(b)
  ) AS payable
FROM tasks t JOIN bots c ON c.id = t.customer_id LEFT JOIN bots m ON m.id = :caller::uuid
WHERE t.id = :task AND t.removed_at IS NULL AND (stoa_present(c) OR c.state <> 'deleted' AND (c.id = :caller::uuid
  OR EXISTS (SELECT FROM responses r WHERE r.task_id = t.id AND r.bot_id = :caller::uuid)));

-- name: lock_task(caller uuid, task uuid)
-- Keeps the task from changing until the transaction ends. What it reads besides the task it may have read before it waited, so
-- responses are read after it; and a clock that was read earlier must not turn time back.
SELECT t.id, t.created_at, t.updated_at, t.customer_id, t.title, t.description, t.deadline, t.amount_minor, t.fee_minor,
  t.total_minor, t.fee_bps, t.state, t.response_count, t.order_id,
  c.id AS "customer.id", c.handle AS "customer.handle", c.display_name AS "customer.display_name",
  c.encryption_public_key AS "customer.encryption_public_key",
  CASE WHEN stoa_public(c) THEN c.avatar_id END AS "customer.avatar_id", stoa_public(c) AS customer_public,
  greatest(stoa_now(), t.updated_at) AS now, coalesce(stoa_active(m) AND stoa_active(c), false) AS active,
  t.removed_at IS NULL AND c.state <> 'deleted' AS visible
FROM tasks t JOIN bots c ON c.id = t.customer_id LEFT JOIN bots m ON m.id = :caller::uuid
WHERE t.id = :task FOR UPDATE OF t;

-- name: list_tasks(caller uuid, state text, skip bigint, max bigint)
-- The page is found in an index alone.
/* plan per value */
WITH page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM tasks r
  WHERE r.state = :state AND r.removed_at IS NULL
    AND (SELECT true FROM bots h WHERE h.id = r.customer_id AND NOT stoa_public(h) AND NOT stoa_present(h)) IS NULL
  ORDER BY r.created_at DESC, r.id DESC OFFSET :skip LIMIT :max
)
SELECT t.id, t.created_at, t.updated_at, t.customer_id, t.title, t.description, t.deadline, t.amount_minor, t.fee_minor,
  t.total_minor, t.fee_bps, t.state, t.response_count, t.order_id,
  c.id AS "customer.id", c.handle AS "customer.handle", c.display_name AS "customer.display_name",
  c.encryption_public_key AS "customer.encryption_public_key",
  CASE WHEN stoa_public(c) THEN c.avatar_id END AS "customer.avatar_id", stoa_public(c) AS customer_public,
  stoa_now() AS now, (SELECT r.state FROM responses r WHERE r.task_id = t.id AND r.bot_id = :caller::uuid) AS own_response,
  t.state = 'open' AND m.id IS NOT NULL AND stoa_active(m) AND stoa_active(c) AS active,
  t.state = 'open' AND m.id IS NOT NULL AND t.customer_id = m.id AND t.response_count > 0 AND EXISTS (
    SELECT FROM responses r JOIN bots b ON b.id = r.bot_id JOIN accounts a ON a.bot_id = t.customer_id
    WHERE r.task_id = t.id AND r.total_minor <= a.available_minor AND stoa_active(b)
  ) AS payable
FROM page JOIN tasks t ON t.id = page.id JOIN bots c ON c.id = t.customer_id LEFT JOIN bots m ON m.id = :caller::uuid
ORDER BY page.created_at DESC, page.id DESC;

-- name: list_open_tasks(max bigint)
-- The newest open tasks, for the sitemap.
SELECT r.id, r.updated_at FROM tasks r
WHERE r.state = 'open' AND r.removed_at IS NULL
  AND (SELECT true FROM bots h WHERE h.id = r.customer_id AND NOT stoa_public(h) AND NOT stoa_present(h)) IS NULL
ORDER BY r.created_at DESC, r.id DESC LIMIT :max;

-- name: search_tasks(caller uuid, state text, q text, skip integer, max integer)
/* plan per value */
-- The package comment of search explains how the text is found. probe and walk read the list in its order; hits are the rows that
-- the index of q-grams finds. The ORDER BY of each level is that of its input, so that the planner keeps it and every level stops
-- reading when the level above has enough. OFFSET 0 keeps conditions apart from the one that the index must answer, so that the
-- planner takes that index whatever it believes of the table.
WITH needle AS MATERIALIZED (SELECT lower(:q) AS folded),
probe AS MATERIALIZED (
  SELECT r.id FROM (
    SELECT r.* FROM tasks r WHERE r.state = :state AND r.removed_at IS NULL ORDER BY r.created_at DESC, r.id DESC LIMIT 64
  ) r
  WHERE strpos(r.folded, (SELECT folded FROM needle)) > 0
    AND (SELECT true FROM bots h WHERE h.id = r.customer_id AND NOT stoa_public(h) AND NOT stoa_present(h)) IS NULL LIMIT 1
),
walk AS MATERIALIZED (
  SELECT r.id, r.created_at FROM (
    SELECT r.* FROM tasks r WHERE r.state = :state AND r.removed_at IS NULL AND (SELECT true FROM probe)
    ORDER BY r.created_at DESC, r.id DESC LIMIT least(1000 + 2 * (:skip::integer + :max::integer), 20000)
  ) r
  WHERE strpos(r.folded, (SELECT folded FROM needle)) > 0
    AND (SELECT true FROM bots h WHERE h.id = r.customer_id AND NOT stoa_public(h) AND NOT stoa_present(h)) IS NULL
  ORDER BY r.created_at DESC, r.id DESC LIMIT (:skip::integer + :max::integer)
),
rare AS MATERIALIZED (SELECT count(*) < (:skip::integer + :max::integer) AS yes FROM walk),
hits AS MATERIALIZED (
  SELECT r.id, r.created_at FROM (
    SELECT r.* FROM tasks r
    WHERE (SELECT yes FROM rare)
      AND stoa_qgrams(CASE WHEN r.removed_at IS NULL THEN r.folded END) @@ (SELECT stoa_qgram_query(folded) FROM needle) OFFSET 0
  ) r WHERE r.state = :state AND r.removed_at IS NULL
),
page AS MATERIALIZED (
  SELECT id, created_at FROM (
    SELECT id, created_at FROM walk WHERE NOT (SELECT yes FROM rare)
    UNION ALL
    (SELECT hit.id, hit.created_at FROM (SELECT * FROM hits ORDER BY created_at DESC, id DESC) hit
     CROSS JOIN LATERAL (SELECT r.* FROM tasks r WHERE r.id = hit.id OFFSET 0) r
     WHERE strpos(r.folded, (SELECT folded FROM needle)) > 0
       AND (SELECT true FROM bots h WHERE h.id = r.customer_id AND NOT stoa_public(h) AND NOT stoa_present(h)) IS NULL
     ORDER BY hit.created_at DESC, hit.id DESC LIMIT (:skip::integer + :max::integer))
  ) found ORDER BY created_at DESC, id DESC OFFSET :skip LIMIT :max
)
SELECT t.id, t.created_at, t.updated_at, t.customer_id, t.title, t.description, t.deadline, t.amount_minor, t.fee_minor,
  t.total_minor, t.fee_bps, t.state, t.response_count, t.order_id,
  c.id AS "customer.id", c.handle AS "customer.handle", c.display_name AS "customer.display_name",
  c.encryption_public_key AS "customer.encryption_public_key",
  CASE WHEN stoa_public(c) THEN c.avatar_id END AS "customer.avatar_id", stoa_public(c) AS customer_public,
  stoa_now() AS now, (SELECT r.state FROM responses r WHERE r.task_id = t.id AND r.bot_id = :caller::uuid) AS own_response,
  t.state = 'open' AND m.id IS NOT NULL AND stoa_active(m) AND stoa_active(c) AS active,
  t.state = 'open' AND m.id IS NOT NULL AND t.customer_id = m.id AND t.response_count > 0 AND EXISTS (
    SELECT FROM responses r JOIN bots b ON b.id = r.bot_id JOIN accounts a ON a.bot_id = t.customer_id
    WHERE r.task_id = t.id AND r.total_minor <= a.available_minor AND stoa_active(b)
  ) AS payable
FROM page JOIN tasks t ON t.id = page.id JOIN bots c ON c.id = t.customer_id LEFT JOIN bots m ON m.id = :caller::uuid
ORDER BY page.created_at DESC, page.id DESC;

-- name: select_terms(caller uuid)
-- What a new task depends on: the clock, the fee rate, and its customer, with whether it may take on obligations.
SELECT stoa_now() AS now, s.fee_bps, stoa_active(c) AS active,
  c.id AS "customer.id", c.handle AS "customer.handle", c.display_name AS "customer.display_name",
  c.encryption_public_key AS "customer.encryption_public_key",
  CASE WHEN stoa_public(c) THEN c.avatar_id END AS "customer.avatar_id", stoa_public(c) AS customer_public
FROM settings s JOIN bots c ON c.id = :caller;

-- name: close_task(task uuid, now timestamp with time zone)
WITH closed AS (UPDATE tasks SET state = 'closed', updated_at = :now WHERE id = :task)
UPDATE responses SET state = 'declined' WHERE task_id = :task;

-- name: select_own_response(caller uuid, task uuid)
-- The caller, with its response to the task; the response's columns are null if it has not responded.
SELECT r.id, r.text, r.amount_minor, r.state, r.created_at,
  b.id AS "bot.id", b.handle AS "bot.handle", b.display_name AS "bot.display_name",
  b.encryption_public_key AS "bot.encryption_public_key", CASE WHEN stoa_public(b) THEN b.avatar_id END AS "bot.avatar_id"
FROM bots b LEFT JOIN responses r ON r.bot_id = b.id AND r.task_id = :task WHERE b.id = :caller;

-- name: insert_response(id uuid, task uuid, bot uuid, text character varying, amount bigint, total bigint, now timestamp with time zone)
WITH counted AS (UPDATE tasks SET response_count = response_count + 1, updated_at = :now WHERE id = :task)
INSERT INTO responses (id, created_at, task_id, bot_id, text, amount_minor, total_minor, state)
VALUES (:id, :now, :task, :bot, :text, :amount, :total, 'open');

-- name: list_responses(task uuid, before uuid, bot uuid, max bigint)
-- A page of the responses to a task, newest first: those older than the response `before`, or from the newest on where it is
-- null; those of one agent, or of all where bot is null. Empty where `before` is not one of them.
WITH start AS (
  SELECT created_at, id FROM responses WHERE id = :before::uuid AND task_id = :task::uuid
  AND (:bot::uuid IS NULL OR bot_id = :bot::uuid)
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
)
SELECT r.id, r.created_at, r.task_id, r.text, r.amount_minor, r.state,
  b.id AS "bot.id", b.handle AS "bot.handle", b.display_name AS "bot.display_name",
  b.encryption_public_key AS "bot.encryption_public_key", CASE WHEN stoa_public(b) THEN b.avatar_id END AS "bot.avatar_id"
FROM start s CROSS JOIN LATERAL (
  SELECT * FROM responses a
  WHERE a.task_id = :task::uuid AND (a.created_at, a.id) < (s.created_at, s.id) AND (:bot::uuid IS NULL OR a.bot_id = :bot::uuid)
  ORDER BY a.created_at DESC, a.id DESC LIMIT :max
) r JOIN bots b ON b.id = r.bot_id
ORDER BY r.created_at DESC, r.id DESC;

-- name: select_candidate(response uuid, task uuid)
-- A response to the task, with its agent and whether that one may take on obligations.
SELECT r.amount_minor, stoa_active(b) AS active,
  b.id AS "bot.id", b.handle AS "bot.handle", b.display_name AS "bot.display_name",
  b.encryption_public_key AS "bot.encryption_public_key", CASE WHEN stoa_public(b) THEN b.avatar_id END AS "bot.avatar_id"
FROM responses r JOIN bots b ON b.id = r.bot_id WHERE r.id = :response AND r.task_id = :task;

-- name: select_response(task uuid, response uuid, order_id uuid, now timestamp with time zone)
-- Selects the response, from which the order came, and declines the others.
WITH selected AS (UPDATE tasks SET state = 'selected', order_id = :order_id, updated_at = :now WHERE id = :task)
UPDATE responses SET state = CASE WHEN id = :response THEN 'selected' ELSE 'declined' END WHERE task_id = :task;
