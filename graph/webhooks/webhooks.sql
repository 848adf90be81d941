-- name: lock_agent(agent uuid)
-- Serializes the changes of an agent's webhooks and the end of its tokens.
SELECT id FROM bots WHERE id = :agent FOR NO KEY UPDATE;

-- name: holds_token(token uuid)
-- Whether the agent of a token is suspended; no row if the token has ended. The agent's row is locked.
SELECT b.suspended_at IS NOT NULL AS suspended FROM tokens t JOIN bots b ON b.id = t.bot_id
WHERE t.id = :token AND t.revoked_at IS NULL AND t.expires_at > stoa_now();

-- name: lock_webhooks(agent uuid)
-- Locks the webhooks of an agent. A later statement reads them.
SELECT id FROM webhooks WHERE bot_id = :agent ORDER BY id FOR NO KEY UPDATE;

-- name: void_webhooks(agent uuid, reason text)
-- Pauses all webhooks of an agent, which are locked, drops their waiting deliveries, and gives each a secret that was never
-- shown: deliveries are no longer signed with the previous one.
WITH dropped AS (
  DELETE FROM pending_deliveries WHERE webhook_id IN (SELECT id FROM webhooks WHERE bot_id = :agent)
)
UPDATE webhooks SET state = 'paused', voided = voided + 1, secret_number = secret_number + 1, rotated_at = NULL, due_at = NULL,
  queued_until = NULL, not_before = NULL, last_failure_at = stoa_now(), last_failure_status = NULL, last_failure_error = :reason::text,
  updated_at = stoa_now()
WHERE bot_id = :agent;

-- name: add_pending(webhook uuid, recent boolean)
-- Adds the missing pending deliveries of unacknowledged events, for active and tested webhooks of active agents: of the given
-- webhook, or of all if that is null; if recent, only of agents whose newest event is less than a minute old. It reads the newest
-- 1,000 events of an agent if recent, otherwise the oldest 10,000, or a million for the given webhook, and lets at most about 256
-- wait for a webhook, so a long queue costs little. It locks the webhooks, so one that is being switched off gets nothing.
WITH missing AS MATERIALIZED (
  SELECT w.id AS webhook_id, e.id, e.kind, e.sequence
  FROM webhooks w JOIN bots b ON b.id = w.bot_id
  CROSS JOIN LATERAL (
    SELECT q.id, q.kind, q.sequence FROM (
      (SELECT * FROM events n WHERE :recent AND n.recipient_id = w.bot_id ORDER BY n.sequence DESC LIMIT 1000)
      UNION ALL
      (SELECT * FROM events o WHERE NOT :recent AND o.recipient_id = w.bot_id ORDER BY o.sequence
        LIMIT CASE WHEN :webhook::uuid IS NULL THEN 10000 ELSE 1000000 END)
    ) q
    WHERE jsonb_exists(w.kinds, q.kind)
      AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.webhook_id = w.id AND p.event_id = q.id)
    ORDER BY q.sequence LIMIT 256
  ) e
  WHERE w.state = 'active' AND w.confirmed_at IS NOT NULL AND b.state = 'active' AND b.suspended_at IS NULL
    AND (:webhook::uuid IS NULL OR w.id = :webhook)
    AND (NOT :recent OR stoa_now() - interval '1 minute' < (
      SELECT n.created_at FROM events n WHERE n.recipient_id = w.bot_id ORDER BY n.sequence DESC LIMIT 1))
    AND (SELECT count(*) FROM (SELECT FROM pending_deliveries p WHERE p.webhook_id = w.id LIMIT 256) waiting) < 256
), locked AS MATERIALIZED (
  SELECT id FROM webhooks WHERE id IN (SELECT webhook_id FROM missing) AND state = 'active' AND confirmed_at IS NOT NULL
  ORDER BY id FOR NO KEY UPDATE
), noted AS (
  UPDATE webhooks w SET due_at = least(coalesce(w.due_at, 'infinity'), stoa_now()) FROM locked l WHERE w.id = l.id
)
INSERT INTO pending_deliveries (webhook_id, event_id, kind, sequence, created_at, next_attempt_at)
SELECT m.webhook_id, m.id, m.kind, m.sequence, stoa_now(), stoa_now() FROM missing m JOIN locked l ON l.id = m.webhook_id
ON CONFLICT DO NOTHING;

-- name: untested(webhook uuid)
-- Untested webhooks without a pending test: the given one, or up to 100 if that is null.
SELECT w.id FROM webhooks w
WHERE w.state = 'active' AND w.confirmed_at IS NULL AND (:webhook::uuid IS NULL OR w.id = :webhook)
  AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.webhook_id = w.id AND p.sequence = 0)
ORDER BY w.id LIMIT 100 FOR NO KEY UPDATE SKIP LOCKED;

-- name: ask_test(webhook uuid, event uuid)
-- Makes the waiting test of a webhook, which is locked, due now, or adds one under a new id. Returns its id.
WITH looked AS (
  UPDATE webhooks SET due_at = stoa_now() WHERE id = :webhook
), waiting AS (
  UPDATE pending_deliveries SET next_attempt_at = least(next_attempt_at, stoa_now()) WHERE webhook_id = :webhook AND sequence = 0
  RETURNING event_id
), added AS (
  INSERT INTO pending_deliveries (webhook_id, event_id, kind, sequence, created_at, next_attempt_at)
  SELECT :webhook::uuid, :event::uuid, 'webhook.test', 0, stoa_now(), stoa_now() WHERE NOT EXISTS (SELECT FROM waiting)
  RETURNING event_id
)
SELECT event_id FROM waiting UNION ALL SELECT event_id FROM added;

-- name: look_again()
-- Makes the queue check webhooks whose deliveries wait but that it would never check: an older version of the server added these.
UPDATE webhooks SET due_at = stoa_now() WHERE id IN (
  SELECT w.id FROM webhooks w WHERE w.due_at IS NULL AND EXISTS (SELECT FROM pending_deliveries p WHERE p.webhook_id = w.id)
  ORDER BY w.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED);

-- name: look_due()
-- Locks up to 100 webhooks that the queue must check, longest waiting first.
SELECT id FROM webhooks WHERE due_at <= stoa_now() ORDER BY due_at LIMIT 100 FOR NO KEY UPDATE SKIP LOCKED;

-- name: queue_due(webhooks uuid[])
-- The given webhooks whose jobs the caller adds: a delivery is due, and no job is queued or running. All given webhooks are
-- locked. Of one agent's webhooks with prompt endpoints it chooses one at a time, the one whose last attempt is oldest. A job
-- that has not begun within ten minutes counts as lost. For the other webhooks it stores when to check them again.
WITH looked AS MATERIALIZED (
  SELECT w.id, w.bot_id, w.prompt, n.next, greatest(n.next, w.not_before, w.queued_until, w.claimed_until) AS at,
    b.state = 'active' AND b.suspended_at IS NULL AS may, greatest(w.last_success_at, w.last_failure_at) AS attempted_at,
    w.prompt AND EXISTS (
      SELECT FROM webhooks s WHERE s.bot_id = w.bot_id AND s.id <> w.id AND s.prompt AND greatest(s.queued_until, s.claimed_until) > stoa_now()
    ) AS other
  FROM webhooks w JOIN bots b ON b.id = w.bot_id
  CROSS JOIN LATERAL (
    SELECT min(p.next_attempt_at) AS next FROM pending_deliveries p
    WHERE p.webhook_id = w.id AND (p.sequence = 0 OR (w.state = 'active' AND w.confirmed_at IS NOT NULL))
  ) n
  WHERE w.id = ANY (:webhooks)
), ready AS (
  SELECT l.id, NOT l.prompt OR row_number() OVER (PARTITION BY l.bot_id, l.prompt ORDER BY l.attempted_at NULLS FIRST, l.id) = 1 AS chosen
  FROM looked l WHERE l.may AND l.at <= stoa_now() AND NOT l.other AND l.next IS NOT NULL
), noted AS (
  UPDATE webhooks w SET queued_until = CASE WHEN r.chosen THEN stoa_now() + interval '10 minutes' ELSE w.queued_until END,
    due_at = CASE
      WHEN l.next IS NULL THEN NULL
      WHEN NOT l.may THEN stoa_now() + interval '1 minute'
      WHEN l.at > stoa_now() THEN l.at
      WHEN r.chosen THEN stoa_now() + interval '10 minutes'
      ELSE stoa_now() + interval '1 second'
    END
  FROM looked l LEFT JOIN ready r ON r.id = l.id
  WHERE w.id = l.id
  RETURNING w.id, w.bot_id, coalesce(r.chosen, false) AS chosen
)
SELECT n.id, coalesce(stoa_used_seconds(t), 0) AS used_seconds
FROM noted n LEFT JOIN webhook_time t ON t.bot_id = n.bot_id
WHERE n.chosen;

-- name: select_endpoint(webhook uuid)
SELECT bot_id, prompt FROM webhooks WHERE id = :webhook;

-- name: claim_webhook(webhook uuid)
-- Claims a webhook for a minute, unless a job has it, or it is prompt and a job has another prompt one of the agent. The webhooks
-- of the agent are locked.
UPDATE webhooks w SET queued_until = NULL, claimed_until = stoa_now() + interval '1 minute', due_at = stoa_now() + interval '1 minute'
WHERE w.id = :webhook AND coalesce(w.claimed_until, '-infinity') <= stoa_now()
  AND NOT (w.prompt AND EXISTS (
    SELECT FROM webhooks s WHERE s.bot_id = w.bot_id AND s.id <> w.id AND s.prompt AND s.claimed_until > stoa_now()))
RETURNING w.id;

-- name: leave_webhook(webhook uuid, seconds double precision)
-- Drops the queued job; the queue checks the webhook again after some seconds.
UPDATE webhooks SET queued_until = NULL, due_at = stoa_now() + make_interval(secs => :seconds) WHERE id = :webhook;

-- name: release_webhook(webhook uuid)
-- Makes the queue check a webhook at once, and the agent's others, which may have waited for it. All are locked.
UPDATE webhooks w SET claimed_until = CASE WHEN w.id = h.id THEN NULL ELSE w.claimed_until END, due_at = stoa_now()
FROM webhooks h
WHERE h.id = :webhook AND w.bot_id = h.bot_id AND (w.id = h.id OR w.due_at IS NOT NULL);

-- name: begin_attempt(webhook uuid)
-- Takes the first due delivery, counts the attempt, and extends the claim of the webhook to a minute from now. No row if nothing
-- is due, or if the webhook or its agent was switched off. The webhook is locked before its delivery, as in every statement.
WITH locked AS MATERIALIZED (
  SELECT id, bot_id, state, confirmed_at, not_before FROM webhooks WHERE id = :webhook FOR NO KEY UPDATE
), due AS (
  SELECT p.webhook_id, p.event_id
  FROM locked w JOIN bots b ON b.id = w.bot_id JOIN pending_deliveries p ON p.webhook_id = w.id
  WHERE p.next_attempt_at <= stoa_now() AND coalesce(w.not_before, '-infinity') <= stoa_now()
    AND (p.sequence = 0 OR (w.state = 'active' AND w.confirmed_at IS NOT NULL)) AND b.state = 'active' AND b.suspended_at IS NULL
  ORDER BY p.next_attempt_at, p.sequence LIMIT 1
), kept AS (
  UPDATE webhooks SET claimed_until = stoa_now() + interval '1 minute' WHERE id IN (SELECT webhook_id FROM due)
)
UPDATE pending_deliveries p SET attempts = p.attempts + 1
FROM due d JOIN webhooks w ON w.id = d.webhook_id
WHERE p.webhook_id = d.webhook_id AND p.event_id = d.event_id
RETURNING w.id AS webhook_id, w.bot_id, w.url, w.signing, w.secret_number, w.rotated_at, w.voided, w.own,
  w.state = 'active' AND w.confirmed_at IS NULL AS confirming, p.event_id, p.kind, p.sequence, p.created_at, p.attempts, stoa_now() AS now;

-- name: undo_attempt(webhook uuid, event uuid)
UPDATE pending_deliveries SET attempts = attempts - 1 WHERE webhook_id = :webhook AND event_id = :event AND attempts > 0;

-- name: end_pending(webhook uuid, event uuid)
DELETE FROM pending_deliveries WHERE webhook_id = :webhook AND event_id = :event;

-- name: postpone_pending(webhook uuid, event uuid, next timestamp with time zone)
UPDATE pending_deliveries SET next_attempt_at = :next WHERE webhook_id = :webhook AND event_id = :event;

-- name: drop_pending(webhook uuid)
DELETE FROM pending_deliveries WHERE webhook_id = :webhook;

-- name: lock_noted(webhook uuid)
-- How often the webhook was voided; no row if it was deleted.
SELECT voided FROM webhooks WHERE id = :webhook FOR NO KEY UPDATE;

-- name: add_time(agent uuid, seconds double precision)
-- Adds the time for which an endpoint of the agent kept a worker busy.
INSERT INTO webhook_time AS t (bot_id, used_seconds, noted_at) VALUES (:agent, :seconds, stoa_now())
ON CONFLICT (bot_id) DO UPDATE SET used_seconds = stoa_used_seconds(t) + excluded.used_seconds, noted_at = greatest(t.noted_at, stoa_now());

-- name: note_success(webhook uuid, url text, at timestamp with time zone, prompt boolean, took_seconds double precision)
-- The attempt does not count as a test of an address that was changed during it.
UPDATE webhooks SET last_success_at = :at, prompt = :prompt, took_seconds = :took_seconds, not_before = NULL,
  confirmed_at = CASE WHEN url = :url::text THEN coalesce(confirmed_at, :at) ELSE confirmed_at END
WHERE id = :webhook;

-- name: note_failure(webhook uuid, at timestamp with time zone, status bigint, error text, prompt boolean, took_seconds double precision, not_before timestamp with time zone, lasting text[])
-- If a webhook is paused because its agent's tokens ended, a failed test does not replace that reason.
UPDATE webhooks SET prompt = prompt AND :prompt, took_seconds = :took_seconds, not_before = coalesce(:not_before, not_before),
  last_failure_at = CASE WHEN keeps THEN last_failure_at ELSE :at END,
  last_failure_status = CASE WHEN keeps THEN last_failure_status ELSE :status END,
  last_failure_error = CASE WHEN keeps THEN last_failure_error ELSE :error::text END
FROM (SELECT k.state = 'paused' AND k.last_failure_error = ANY (:lasting::text[]) AS keeps FROM webhooks k WHERE k.id = :webhook) k
WHERE id = :webhook;

-- name: switch_off(webhook uuid, url text, state text, from_states text[])
-- Changes nothing if the address was changed during the attempt; otherwise it drops the waiting deliveries, except a test.
WITH switched AS (
  UPDATE webhooks SET state = :state::text, updated_at = stoa_now() WHERE id = :webhook AND url = :url::text
    AND state = ANY (:from_states::text[])
  RETURNING id
)
DELETE FROM pending_deliveries WHERE webhook_id IN (SELECT id FROM switched) AND sequence > 0;

-- name: add_delivery(delivery uuid, webhook uuid, event uuid, kind text, attempt bigint, status bigint, error text, at timestamp with time zone, next timestamp with time zone)
INSERT INTO webhook_deliveries (id, webhook_id, event_id, kind, attempt, status, error, created_at, next_attempt_at)
VALUES (:delivery, :webhook, :event, :kind::text, :attempt, :status, :error::text, :at, :next);

-- name: list_deliveries(webhook uuid, before uuid, max bigint)
-- A page of attempts, newest first, older than `before` if that is not null.
WITH start AS (
  SELECT created_at, id FROM webhook_deliveries WHERE id = :before AND webhook_id = :webhook
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
)
SELECT d.id, d.event_id, d.attempt, d.status, nullif(d.error, '') AS error, d.created_at, d.next_attempt_at
FROM start s CROSS JOIN LATERAL (
  SELECT * FROM webhook_deliveries r WHERE r.webhook_id = :webhook AND (r.created_at, r.id) < (s.created_at, s.id)
  ORDER BY r.created_at DESC, r.id DESC LIMIT :max
) d
ORDER BY d.created_at DESC, d.id DESC;

-- name: delete_old_deliveries(retention_seconds double precision, batch bigint)
DELETE FROM webhook_deliveries WHERE id IN (
  SELECT id FROM webhook_deliveries WHERE created_at < stoa_now() - make_interval(secs => :retention_seconds)
  ORDER BY created_at LIMIT :batch
);

-- name: delete_old_times(retention_seconds double precision, batch bigint)
DELETE FROM webhook_time WHERE bot_id IN (
  SELECT bot_id FROM webhook_time WHERE noted_at < stoa_now() - make_interval(secs => :retention_seconds)
  ORDER BY bot_id LIMIT :batch FOR UPDATE SKIP LOCKED
);

-- name: webhook_metrics()
-- Waiting deliveries are counted up to 100,000. The delay is the longest of all due deliveries of active agents; of
-- each webhook only the first due delivery counts.
SELECT (SELECT count(*) FROM (SELECT FROM pending_deliveries LIMIT 100000) p) AS stoa_webhook_deliveries_waiting,
  (SELECT count(*) FROM webhooks WHERE state = 'failing') AS stoa_webhooks_failing,
  greatest(extract(epoch FROM stoa_now() - (
    SELECT min(greatest(n.next, w.not_before)) FROM webhooks w JOIN bots b ON b.id = w.bot_id
    CROSS JOIN LATERAL (SELECT min(p.next_attempt_at) AS next FROM pending_deliveries p WHERE p.webhook_id = w.id) n
    WHERE w.due_at IS NOT NULL AND n.next IS NOT NULL AND b.state = 'active' AND b.suspended_at IS NULL)), 0)::float8
    AS stoa_webhook_deliveries_late_seconds;
