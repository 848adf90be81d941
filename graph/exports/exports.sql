-- name: lock_exports()
-- New exports follow each other: each sees the bytes that earlier ones have reserved.
SELECT pg_advisory_xact_lock(hashtextextended('exports', 0));

-- text: export_card
e.id, e.bot_id, e.operation_id, e.by_owner, e.include_files, e.truncated, e.created_at, e.expires_at,
  CASE WHEN e.expires_at <= stoa_now() THEN 'expired' ELSE e.state END AS state

-- name: select_operation(agent uuid, operation uuid)
SELECT :export_card FROM exports e WHERE e.bot_id = :agent AND e.operation_id = :operation;

-- name: judge_export(agent uuid, by_owner boolean, include_files boolean)
-- The values that decide about a new export: seconds until the agent may have one, the bytes of all exports, and the bytes of the
-- agent's files.
SELECT coalesce((SELECT max(extract(epoch FROM e.created_at + interval '24 hours' - stoa_now())) FROM exports e
    WHERE e.bot_id = :agent AND e.by_owner = :by_owner AND (e.state = 'pending' OR e.state IN ('ready', 'expired')
      AND e.created_at > stoa_now() - interval '24 hours')), 0)::float8 AS wait_seconds,
  (SELECT coalesce(sum(e.reserved_bytes), 0) FROM exports e WHERE e.swept_at IS NULL)::bigint AS kept_bytes,
  CASE WHEN :include_files THEN (SELECT coalesce(sum(a.size_bytes), 0) FROM attachments a
    WHERE a.owner_id = :agent AND a.status = 'ready' AND a.deleted_at IS NULL) ELSE 0 END::bigint AS file_bytes;

-- name: insert_export(export uuid, agent uuid, operation uuid, by_owner boolean, include_files boolean, reserved_bytes bigint, life_seconds double precision)
INSERT INTO exports AS e (id, bot_id, operation_id, by_owner, include_files, state, reserved_bytes, created_at, expires_at)
VALUES (:export, :agent, :operation, :by_owner, :include_files, 'pending', :reserved_bytes, stoa_now(),
  stoa_now() + make_interval(secs => :life_seconds))
RETURNING :export_card;

-- name: select_export(export uuid)
SELECT :export_card FROM exports e WHERE e.id = :export;

-- name: select_parts(export uuid)
SELECT p.n, p.object, p.size_bytes, encode(p.sha256, 'hex') AS sha256, format('/api/v1/exports/%s/parts/%s', p.export_id, p.n) AS url
FROM export_parts p WHERE p.export_id = :export ORDER BY p.n;

-- name: other_bytes(export uuid)
SELECT coalesce(sum(e.reserved_bytes), 0)::bigint FROM exports e WHERE e.swept_at IS NULL AND e.id <> :export;

-- name: finish_export(export uuid, truncated jsonb, size_bytes bigint)
-- No row if the export is not wanted any more.
UPDATE exports SET state = 'ready', truncated = :truncated, reserved_bytes = :size_bytes
WHERE id = :export AND state = 'pending' AND expires_at > stoa_now() RETURNING id;

-- name: insert_part(export uuid, n integer, object text, size_bytes bigint, sha256 bytea)
INSERT INTO export_parts (export_id, n, object, size_bytes, sha256) VALUES (:export, :n, :object, :size_bytes, :sha256);

-- name: fail_stuck(after_seconds double precision)
UPDATE exports SET state = 'failed' WHERE state = 'pending' AND created_at < stoa_now() - make_interval(secs => :after_seconds);

-- name: unswept(max bigint)
SELECT e.id FROM exports e WHERE e.swept_at IS NULL AND (e.expires_at <= stoa_now() OR e.state IN ('failed', 'expired')) LIMIT :max;

-- name: note_swept(export uuid)
WITH gone AS (DELETE FROM export_parts WHERE export_id = :export)
UPDATE exports SET swept_at = stoa_now(), state = CASE state WHEN 'failed' THEN 'failed' ELSE 'expired' END WHERE id = :export;

-- name: delete_old(retention_seconds double precision, batch bigint)
DELETE FROM exports WHERE id IN (
  SELECT id FROM exports WHERE swept_at IS NOT NULL AND created_at < stoa_now() - make_interval(secs => :retention_seconds)
  ORDER BY created_at LIMIT :batch);

-- name: post_ids(agent uuid, after uuid, max bigint)
SELECT p.id FROM posts p WHERE p.author_id = :agent AND p.deleted_at IS NULL AND p.id > :after ORDER BY p.id LIMIT :max;

-- name: order_ids(agent uuid, after uuid, max bigint)
SELECT id FROM (
  (SELECT o.id FROM orders o WHERE o.customer_id = :agent AND o.id > :after ORDER BY o.id LIMIT :max)
  UNION ALL
  (SELECT o.id FROM orders o WHERE o.contractor_id = :agent AND o.id > :after ORDER BY o.id LIMIT :max)
) o ORDER BY id LIMIT :max;

-- name: file_ids(agent uuid, after uuid, max bigint)
-- The uploads of an agent that have a record.
SELECT a.id FROM attachments a WHERE a.owner_id = :agent AND a.status <> 'pending' AND a.id > :after ORDER BY a.id LIMIT :max;

-- name: contact_ids(agent uuid, after uuid, max bigint)
SELECT c.id FROM contacts c WHERE (c.requester_id = :agent OR c.recipient_id = :agent) AND c.id > :after ORDER BY c.id LIMIT :max;

-- name: list_tokens(agent uuid)
-- The times of an agent's tokens, without any secret.
SELECT t.created_at, t.expires_at, t.revoked_at FROM tokens t WHERE t.bot_id = :agent ORDER BY t.created_at, t.id;

-- name: list_webhooks(agent uuid)
SELECT w.id, w.url, w.kinds, w.own, w.signing, w.state, w.created_at, w.last_success_at FROM webhooks w
WHERE w.bot_id = :agent ORDER BY w.created_at, w.id;

-- name: select_owner(agent uuid)
SELECT coalesce(o.written, o.address) AS email, o.verified_at, o.confirmed_at, o.documents FROM bot_owners o WHERE o.bot_id = :agent;
