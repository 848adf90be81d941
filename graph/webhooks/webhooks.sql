-- name: lock_agent(agent uuid)
-- Keeps the agent's other requests for new webhooks waiting, so that they are counted.
SELECT id FROM bots WHERE id = :agent FOR NO KEY UPDATE;

-- name: add_pending(agents uuid[], webhook uuid, recent boolean, size bigint)
-- Adds to what is to be sent the unacknowledged events that are not there yet, of webhooks that are active and whose agents are: of
-- the given agents or the given webhook, or of all where both are null; if recent, only where the newest event of the agent is less
-- than a minute old. It looks at no more than `size` events of an agent, the newest if recent, the oldest otherwise, and lets no more
-- than 256 or so wait for a webhook, so an agent with a long queue costs little. A webhook is locked, so that one that is switched
-- off in this moment gets nothing.
WITH missing AS MATERIALIZED (
  SELECT w.id AS webhook_id, e.id, e.kind, e.sequence
  FROM webhooks w JOIN bots b ON b.id = w.bot_id
  CROSS JOIN LATERAL (
    SELECT q.id, q.kind, q.sequence FROM (
      (SELECT * FROM events n WHERE :recent AND n.recipient_id = w.bot_id ORDER BY n.sequence DESC LIMIT :size)
      UNION ALL
      (SELECT * FROM events o WHERE NOT :recent AND o.recipient_id = w.bot_id ORDER BY o.sequence LIMIT :size)
    ) q
    WHERE jsonb_exists(w.kinds, q.kind)
      AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.webhook_id = w.id AND p.event_id = q.id)
    ORDER BY q.sequence LIMIT 256
  ) e
  WHERE w.state = 'active' AND b.state = 'active' AND b.suspended_at IS NULL
    AND (:agents::uuid[] IS NULL OR w.bot_id = ANY (:agents)) AND (:webhook::uuid IS NULL OR w.id = :webhook)
    AND (NOT :recent OR stoa_now() - interval '1 minute' < (
      SELECT n.created_at FROM events n WHERE n.recipient_id = w.bot_id ORDER BY n.sequence DESC LIMIT 1))
    AND (SELECT count(*) FROM (SELECT FROM pending_deliveries p WHERE p.webhook_id = w.id LIMIT 256) waiting) < 256
), locked AS (
  SELECT id FROM webhooks WHERE id IN (SELECT webhook_id FROM missing) AND state = 'active' ORDER BY id FOR NO KEY UPDATE
)
INSERT INTO pending_deliveries (webhook_id, event_id, kind, sequence, created_at, next_attempt_at)
SELECT m.webhook_id, m.id, m.kind, m.sequence, stoa_now(), stoa_now() FROM missing m JOIN locked l ON l.id = m.webhook_id
ON CONFLICT DO NOTHING;

-- name: add_test(webhook uuid, event uuid)
INSERT INTO pending_deliveries (webhook_id, event_id, kind, sequence, created_at, next_attempt_at)
VALUES (:webhook, :event, 'webhook.test', 0, stoa_now(), stoa_now());

-- name: queue_due()
-- Up to 100 webhooks that have something due and no job that is asked for or under way; whoever runs this asks for their jobs. A
-- job that has not begun within ten minutes is not believed in any more.
UPDATE webhooks SET queued_until = stoa_now() + interval '10 minutes'
WHERE id IN (
  SELECT w.id FROM webhooks w JOIN bots b ON b.id = w.bot_id
  WHERE w.id IN (SELECT p.webhook_id FROM pending_deliveries p WHERE p.next_attempt_at <= stoa_now())
    AND coalesce(w.not_before, '-infinity') <= stoa_now() AND coalesce(w.queued_until, '-infinity') <= stoa_now()
    AND coalesce(w.claimed_until, '-infinity') <= stoa_now() AND b.state = 'active' AND b.suspended_at IS NULL
  ORDER BY w.id LIMIT 100 FOR NO KEY UPDATE OF w SKIP LOCKED
)
RETURNING id, prompt;

-- name: has_webhooks(agents uuid[])
SELECT EXISTS (SELECT FROM webhooks WHERE bot_id = ANY (:agents) AND state = 'active');

-- name: claim_webhook(webhook uuid, slow boolean)
-- Takes a webhook for a minute. No row where another process has it, or it is gone. A job of the prompt queue gets no webhook
-- that has become slow; the job that was asked for is then believed in no longer.
UPDATE webhooks SET queued_until = NULL,
  claimed_until = CASE WHEN prompt OR :slow THEN stoa_now() + interval '1 minute' ELSE claimed_until END
WHERE id = :webhook AND coalesce(claimed_until, '-infinity') <= stoa_now()
RETURNING bot_id, prompt OR :slow AS taken;

-- name: leave_job(webhook uuid)
-- Has the job be asked for again in a few seconds, for another process.
UPDATE webhooks SET queued_until = stoa_now() + interval '5 seconds' WHERE id = :webhook;

-- name: release_webhook(webhook uuid)
UPDATE webhooks SET claimed_until = NULL WHERE id = :webhook;

-- name: begin_attempt(webhook uuid)
-- Takes the delivery that is due first, counts the attempt, and keeps the webhook claimed for another minute. No row where
-- nothing is due, or the webhook or its agent was switched off. The webhook is locked before its delivery, as in every statement.
WITH locked AS MATERIALIZED (
  SELECT id, bot_id, state, not_before FROM webhooks WHERE id = :webhook FOR NO KEY UPDATE
), due AS (
  SELECT p.webhook_id, p.event_id
  FROM locked w JOIN bots b ON b.id = w.bot_id JOIN pending_deliveries p ON p.webhook_id = w.id
  WHERE p.next_attempt_at <= stoa_now() AND coalesce(w.not_before, '-infinity') <= stoa_now()
    AND (w.state = 'active' OR p.sequence = 0) AND b.state = 'active' AND b.suspended_at IS NULL
  ORDER BY p.next_attempt_at, p.sequence LIMIT 1
), kept AS (
  UPDATE webhooks SET claimed_until = stoa_now() + interval '1 minute' WHERE id IN (SELECT webhook_id FROM due)
)
UPDATE pending_deliveries p SET attempts = p.attempts + 1
FROM due d JOIN webhooks w ON w.id = d.webhook_id
WHERE p.webhook_id = d.webhook_id AND p.event_id = d.event_id
RETURNING w.id AS webhook_id, w.bot_id, w.url, w.signing, w.secret_number, w.rotated_at, p.event_id, p.kind, p.sequence, p.created_at,
  p.attempts, stoa_now() AS now;

-- name: undo_attempt(webhook uuid, event uuid)
UPDATE pending_deliveries SET attempts = attempts - 1 WHERE webhook_id = :webhook AND event_id = :event AND attempts > 0;

-- name: end_pending(webhook uuid, event uuid)
DELETE FROM pending_deliveries WHERE webhook_id = :webhook AND event_id = :event;

-- name: postpone_pending(webhook uuid, event uuid, next timestamp with time zone)
UPDATE pending_deliveries SET next_attempt_at = :next WHERE webhook_id = :webhook AND event_id = :event;

-- name: drop_pending(webhook uuid)
-- Tests stay.
DELETE FROM pending_deliveries WHERE webhook_id = :webhook AND sequence > 0;

-- name: note_success(webhook uuid, at timestamp with time zone, prompt boolean)
UPDATE webhooks SET last_success_at = :at, prompt = :prompt, not_before = NULL WHERE id = :webhook RETURNING id;

-- name: note_failure(webhook uuid, at timestamp with time zone, status bigint, error text, prompt boolean, not_before timestamp with time zone)
UPDATE webhooks SET last_failure_at = :at, last_failure_status = :status, last_failure_error = :error::text, prompt = prompt AND :prompt,
  not_before = coalesce(:not_before, not_before)
WHERE id = :webhook RETURNING id;

-- name: switch_off(webhook uuid, url text, state text, from_states text[])
-- An address that was changed during the attempt stays as it is.
UPDATE webhooks SET state = :state::text, updated_at = stoa_now() WHERE id = :webhook AND url = :url::text
  AND state = ANY (:from_states::text[])
RETURNING id;

-- name: add_delivery(delivery uuid, webhook uuid, event uuid, kind text, attempt bigint, status bigint, error text, at timestamp with time zone, next timestamp with time zone)
INSERT INTO webhook_deliveries (id, webhook_id, event_id, kind, attempt, status, error, created_at, next_attempt_at)
VALUES (:delivery, :webhook, :event, :kind::text, :attempt, :status, :error::text, :at, :next);

-- name: list_deliveries(webhook uuid, before uuid, max bigint)
-- A page of how attempts ended, newest first: what is older than `before`, or from the newest on where that is null.
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

-- name: webhook_metrics()
-- What waits is counted up to 100,000. The oldest is late by how long ago it should have been sent, where something may be sent
-- there.
SELECT (SELECT count(*) FROM (SELECT FROM pending_deliveries LIMIT 100000) p) AS waiting,
  (SELECT count(*) FROM webhooks WHERE state = 'failing') AS failing,
  coalesce(extract(epoch FROM stoa_now() - (
    SELECT min(greatest(p.next_attempt_at, w.not_before)) FROM pending_deliveries p JOIN webhooks w ON w.id = p.webhook_id
    JOIN bots b ON b.id = w.bot_id
    WHERE p.next_attempt_at <= stoa_now() AND coalesce(w.not_before, '-infinity') <= stoa_now()
      AND b.state = 'active' AND b.suspended_at IS NULL)), 0)::float8 AS late_seconds;
