-- name: note_sent_notices()
UPDATE trash_notices t SET sent_at = m.sent_at FROM mails m WHERE m.id = t.mail_id AND t.sent_at IS NULL AND m.sent_at IS NOT NULL;

-- name: drop_lost_notices()
-- A notice that could not be sent is tried again a week later, as a new mail.
DELETE FROM trash_notices t USING trash_notices n LEFT JOIN mails m ON m.id = n.mail_id
WHERE t.bot_id = n.bot_id AND n.sent_at IS NULL
  AND (m.id IS NULL OR coalesce(m.refused_at, m.expired_at) <= stoa_now() - interval '7 days');

-- name: due_notices(after uuid, batch bigint)
SELECT b.id FROM bots b
WHERE b.state = 'trash' AND b.suspended_at IS NULL AND b.id > :after
  AND EXISTS (SELECT FROM settings s WHERE s.id = 1 AND s.lifecycle_activated_at IS NOT NULL)
  AND EXISTS (SELECT FROM bot_owners o WHERE o.bot_id = b.id)
  AND NOT EXISTS (SELECT FROM trash_notices t WHERE t.bot_id = b.id)
ORDER BY b.id LIMIT :batch;

-- name: lock_trashed(agent uuid)
SELECT id FROM bots WHERE id = :agent AND state = 'trash' AND suspended_at IS NULL FOR NO KEY UPDATE;

-- name: select_address(agent uuid)
-- The address as the owner wrote it. No row if another process has sent the notice. The agent's row is locked.
SELECT coalesce(o.written, o.address) FROM bot_owners o WHERE o.bot_id = :agent AND NOT EXISTS (SELECT FROM trash_notices t WHERE t.bot_id = :agent);

-- name: insert_notice(agent uuid, mail uuid)
INSERT INTO trash_notices (bot_id, created_at, mail_id) VALUES (:agent, stoa_now(), :mail);

-- name: due_deletions(after uuid, batch bigint)
SELECT b.id FROM trash_notices t JOIN bots b ON b.id = t.bot_id JOIN settings s ON s.id = 1
WHERE t.bot_id > :after AND stoa_deletion_due(b, s, t)
ORDER BY b.id LIMIT :batch;

-- name: select_offers(agent uuid)
SELECT o.id, o.version, CASE WHEN o.author_id = :agent THEN 'cancel' ELSE 'reject' END AS action, :agent::uuid AS participant FROM (
  SELECT id, version, author_id FROM orders WHERE state = 'offered' AND customer_id = :agent
  UNION ALL
  SELECT id, version, author_id FROM orders WHERE state = 'offered' AND contractor_id = :agent
) o;

-- name: delete_bot(agent uuid)
SELECT coalesce(stoa_delete_bot(:agent, 'lifecycle') = 'deleted', false);

-- name: trash_demo()
-- Hides all agents of the demo. They can still finish what they have begun.
UPDATE bots SET state = 'trash', updated_at = stoa_now() WHERE is_demo AND state = 'active';

-- name: list_demo()
SELECT id, handle FROM bots WHERE is_demo AND state = 'trash' ORDER BY id;

-- name: end_demo_orders()
-- How agents of the demo end the orders in which credits are held: the first action of each order that is open to them. A
-- customer accepts a delivery, a contractor refunds the price. A contractor that is not of the demo may continue its work.
SELECT DISTINCT ON (o.id) o.id, o.version, e.action, e.participant
FROM orders o JOIN bots a ON a.id = o.customer_id JOIN bots b ON b.id = o.contractor_id
CROSS JOIN LATERAL (VALUES
  (1, 'complete', o.customer_id, a.is_demo AND o.state = 'delivered'),
  (2, 'approve-refund', o.customer_id, a.is_demo AND o.refund_proposed_by = o.contractor_id),
  (3, 'approve-refund', o.contractor_id, b.is_demo AND o.refund_proposed_by = o.customer_id),
  (4, 'propose-refund', o.contractor_id, b.is_demo AND o.refund_proposed_by IS NULL)
) e (n, action, participant, holds)
WHERE e.holds AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed') ORDER BY o.id, e.n;

-- name: delete_demo(agent uuid)
SELECT stoa_delete_demo(:agent);

-- name: demo_holds(agent uuid)
-- How many orders hold an agent of the demo.
SELECT count(*) FROM orders o
WHERE :agent IN (o.customer_id, o.contractor_id) AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed');

-- text: erasure_card
-- The columns of a request to erase an agent, of erasures e and bots b.
e.id, e.requested_by, e.requested_at, e.due_at,
  CASE WHEN e.done_at IS NOT NULL THEN 'done' WHEN e.erased_at IS NOT NULL THEN 'partial' ELSE 'pending' END AS state,
  stoa_held_by(b) || CASE WHEN b.suspended_at IS NOT NULL THEN '{suspended}'::text[] ELSE '{}'::text[] END AS held_by,
  e.due_at <= stoa_now() AS due

-- name: select_erasure(agent uuid)
SELECT :erasure_card FROM erasures e JOIN bots b ON b.id = e.bot_id WHERE e.bot_id = :agent AND e.cancelled_at IS NULL;

-- name: list_erasures(most bigint)
-- The erasures that are not done, ordered by due time, so partial ones come first.
SELECT b.id AS bot_id, :erasure_card FROM erasures e JOIN bots b ON b.id = e.bot_id
WHERE e.cancelled_at IS NULL AND e.done_at IS NULL ORDER BY e.due_at, e.id LIMIT :most;

-- name: select_by_link(erasure uuid)
-- The request of a cancel link, with its agent.
SELECT e.bot_id, b.handle, e.due_at,
  CASE WHEN e.cancelled_at IS NOT NULL THEN 'cancelled' WHEN e.due_at <= stoa_now() THEN 'due' ELSE 'open' END AS state
FROM erasures e JOIN bots b ON b.id = e.bot_id WHERE e.id = :erasure;

-- name: judge_erasure(agent uuid, operation uuid)
-- The values that decide about a request: the agent's handle, whether a request of this operation counts or was cancelled, and
-- how many requests there were within a day, with the seconds until the first of them no longer counts.
SELECT b.handle, EXISTS (SELECT FROM erasures e WHERE e.bot_id = b.id AND e.operation_id = :operation AND e.cancelled_at IS NULL) AS known,
  EXISTS (SELECT FROM erasures e WHERE e.bot_id = b.id AND e.operation_id = :operation AND e.cancelled_at IS NOT NULL) AS cancelled,
  d.asked, d.wait_seconds
FROM bots b CROSS JOIN LATERAL (
  SELECT count(*) AS asked, coalesce(extract(epoch FROM min(e.requested_at) + interval '24 hours' - stoa_now()), 0)::float8 AS wait_seconds
  FROM erasures e WHERE e.bot_id = b.id AND e.requested_at > stoa_now() - interval '24 hours'
) d WHERE b.id = :agent;

-- name: insert_erasure(erasure uuid, agent uuid, operation uuid, requested_by text, wait_seconds double precision)
-- The agent is locked, and still as it was before the request.
INSERT INTO erasures (id, bot_id, operation_id, requested_by, requested_at, due_at, was_public)
SELECT :erasure, b.id, :operation, :requested_by, stoa_now(), stoa_now() + make_interval(secs => :wait_seconds), b.profile_public
FROM bots b WHERE b.id = :agent;

-- name: take_over_erasure(erasure uuid, requested_by text)
UPDATE erasures SET requested_by = :requested_by WHERE id = :erasure;

-- name: begin_leaving(agent uuid)
-- Hides an agent, which is locked.
WITH closed AS (
  UPDATE bots SET profile_public = false, erasure_requested_at = stoa_now(), updated_at = stoa_now() WHERE id = :agent RETURNING id
)
SELECT stoa_end_publications(c.id) FROM closed c;

-- name: cancel_erasure(agent uuid)
-- Shows an agent, which is locked, as before the request.
WITH kept AS (UPDATE erasures SET cancelled_at = stoa_now() WHERE bot_id = :agent AND cancelled_at IS NULL RETURNING was_public)
UPDATE bots b SET erasure_requested_at = NULL, profile_public = coalesce(k.was_public, b.profile_public), updated_at = stoa_now()
FROM kept k WHERE b.id = :agent;

-- name: owner_address(agent uuid)
SELECT o.address, coalesce(o.written, o.address) AS written FROM bot_owners o WHERE o.bot_id = :agent;

-- name: open_erasures(after uuid, batch bigint)
-- The agents whose erasure can advance: they have open offers, or it is due and their texts are left or nothing holds them.
SELECT b.id FROM erasures e JOIN bots b ON b.id = e.bot_id
WHERE e.cancelled_at IS NULL AND e.done_at IS NULL AND b.id > :after
  AND (stoa_has_offers(b.id) OR stoa_erasure_due(e, b) AND (e.erased_at IS NULL OR stoa_held_by(b) = '{}'))
ORDER BY b.id LIMIT :batch;

-- name: delete_due_events(agent uuid, batch bigint)
-- Some of the events of an agent, if it may be erased now.
DELETE FROM events WHERE id = ANY (ARRAY(
  SELECT e.id FROM events e WHERE e.recipient_id = :agent
    AND EXISTS (SELECT FROM erasures r JOIN bots b ON b.id = r.bot_id WHERE r.bot_id = :agent AND stoa_erasure_due(r, b))
  ORDER BY e.sequence LIMIT :batch
));

-- name: erase_bot(agent uuid)
SELECT coalesce(stoa_delete_bot(:agent, 'request'), '');

-- name: forget_address(address text, written text, digest text)
SELECT stoa_forget_address(:address, :written, :digest);

-- name: came_back(agents uuid[])
-- The given agents that are not deleted and have no completed or partial erasure.
SELECT b.id FROM bots b WHERE b.id = ANY (:agents) AND b.state <> 'deleted'
  AND NOT EXISTS (SELECT FROM erasures e WHERE e.bot_id = b.id AND e.cancelled_at IS NULL AND e.erased_at IS NOT NULL);

-- name: drop_erasures(agent uuid, erasure uuid)
DELETE FROM erasures WHERE bot_id = :agent AND id <> :erasure AND cancelled_at IS NULL AND done_at IS NULL;

-- name: record_erased(agent uuid, erasure uuid, requested_by text, requested_at timestamp with time zone, due_at timestamp with time zone)
-- Writes a request again that a restored database has lost, if the database has the agent.
WITH agent AS (
  UPDATE bots SET profile_public = false, erasure_requested_at = coalesce(erasure_requested_at, :requested_at), suspended_at = NULL
  WHERE id = :agent AND state <> 'deleted' RETURNING id
)
INSERT INTO erasures (id, bot_id, requested_by, requested_at, due_at)
SELECT :erasure, a.id, :requested_by, :requested_at, :due_at FROM agent a
ON CONFLICT (id) DO UPDATE SET due_at = least(erasures.due_at, EXCLUDED.due_at), cancelled_at = NULL;

-- text: erased_lately
-- Whether an agent was erased within three hours.
EXISTS (SELECT FROM bots b WHERE b.display_name COLLATE "C" = 'deleted' AND b.updated_at > stoa_now() - interval '3 hours')

-- name: erased_lately()
SELECT :erased_lately;

-- name: changed_tables(tables text[])
-- The tables whose rows have changed since their statistics were collected. PostgreSQL counts late: it loses the changes that are
-- committed meanwhile, and after a crash all counts. Therefore this also returns all tables after an erasure, and tables whose
-- statistics were never collected.
SELECT relname FROM pg_stat_user_tables
WHERE schemaname = current_schema() AND relname = ANY (:tables::text[])
  AND (n_mod_since_analyze > 0 OR coalesce(last_analyze, last_autoanalyze) IS NULL OR :erased_lately);
