-- name: lock_budgets(everyone uuid)
-- The lock under which budgets and inspection slots are given out: the row that counts all agents. A transaction that changes
-- reserved_bytes or a lease takes it before the lock of the file's row.
SELECT FROM storage_usage WHERE agent_id = :everyone FOR UPDATE;

-- name: read_usage(everyone uuid, agent uuid, except_reservation uuid)
-- The usage of all agents' files and of one agent's, including running uploads except one reservation; the number of running
-- inspections and of waiting uploads; and the processor time of the agent's inspections, as it was idle seconds ago.
SELECT e.bytes + h.all_bytes AS all_bytes, e.files + h.all_files AS all_files, e.records + h.all_files AS all_records,
  coalesce(u.bytes, 0) + h.bytes AS bytes, coalesce(u.files, 0) + h.files AS files,
  coalesce(u.records, 0) + h.files AS records, h.all_uploads, h.uploads, p.all_waiting, p.waiting, p.inspecting,
  p.running, coalesce(u.inspection_seconds, 0) AS spent,
  coalesce(extract(epoch FROM stoa_now() - u.inspected_at), 0)::float8 AS idle
FROM storage_usage e LEFT JOIN storage_usage u ON u.agent_id = :agent
CROSS JOIN (SELECT coalesce(sum(bytes), 0)::bigint AS all_bytes, coalesce(sum(files), 0) AS all_files,
    count(*) FILTER (WHERE NOT ended) AS all_uploads,
    coalesce(sum(bytes) FILTER (WHERE agent_id = :agent), 0)::bigint AS bytes,
    coalesce(sum(files) FILTER (WHERE agent_id = :agent), 0) AS files,
    count(*) FILTER (WHERE agent_id = :agent AND NOT ended) AS uploads
  FROM upload_reservations WHERE id <> :except_reservation) h
CROSS JOIN (SELECT count(*) FILTER (WHERE NOT leased) AS all_waiting, count(*) FILTER (WHERE NOT leased AND owner_id = :agent) AS waiting,
    count(*) FILTER (WHERE leased) AS running, count(*) FILTER (WHERE leased AND owner_id = :agent) AS inspecting
  FROM (SELECT owner_id, lease_until IS NOT NULL AND lease_until > stoa_now() AS leased FROM attachments WHERE status = 'pending') x) p
WHERE e.agent_id = :everyone;

-- name: insert_reservation(id uuid, agent uuid, bytes bigint, files integer, lease_seconds double precision)
INSERT INTO upload_reservations (id, agent_id, bytes, files, expires_at)
VALUES (:id, :agent, :bytes, :files, stoa_now() + make_interval(secs => :lease_seconds));

-- name: extend_reservation(id uuid, more bigint)
UPDATE upload_reservations SET bytes = bytes + :more WHERE id = :id AND files = 1;

-- name: empty_reservation(id uuid)
UPDATE upload_reservations SET bytes = 0, files = 0 WHERE id = :id;

-- name: renew_reservation(id uuid, slow boolean, lease_seconds double precision)
UPDATE upload_reservations SET slow = :slow, expires_at = stoa_now() + make_interval(secs => :lease_seconds) WHERE id = :id AND NOT ended;

-- name: end_upload(agent uuid, fair bigint)
-- Ends another agent's upload to make room for one of this agent: a slow upload, or else the youngest upload of an agent that
-- holds more than its fair share.
UPDATE upload_reservations SET ended = true WHERE id = (
  SELECT r.id FROM upload_reservations r WHERE NOT r.ended AND r.agent_id <> :agent AND (r.slow
    OR :fair < (SELECT count(*) FROM upload_reservations o WHERE o.agent_id = r.agent_id AND NOT o.ended))
  ORDER BY r.slow DESC, r.id DESC LIMIT 1);

-- name: delete_reservation(id uuid)
DELETE FROM upload_reservations WHERE id = :id;

-- name: lock_reservation(id uuid)
SELECT expires_at <= stoa_now() FROM upload_reservations WHERE id = :id FOR UPDATE;

-- name: expired_reservations()
SELECT id FROM upload_reservations WHERE expires_at <= stoa_now();

-- name: find_upload(owner uuid, upload uuid)
SELECT id, created_at, owner_id, purpose, status, rejection, file_name, size_bytes, sha256, media_type, width, height, pages,
  preview_bytes, preview_sha256, published_bytes, published_sha256, published_type, bound_kind, bound_id, deleted_at
FROM attachments WHERE owner_id = :owner AND upload_id = :upload;

-- name: insert_upload(id uuid, owner uuid, upload uuid, purpose text, file_name text, size bigint, hash bytea, reserved bigint)
INSERT INTO attachments (id, created_at, owner_id, upload_id, purpose, file_name, size_bytes, sha256, reserved_bytes, queued_at)
VALUES (:id, stoa_now(), :owner, :upload, :purpose::text, :file_name::text, :size, :hash, :reserved, stoa_now());

-- text: file
-- The columns of a file a.
a.id, a.created_at, a.owner_id, a.purpose, a.status, a.rejection, a.file_name, a.size_bytes, a.sha256, a.media_type,
a.width, a.height, a.pages, a.preview_bytes, a.preview_sha256, a.published_bytes, a.published_sha256, a.published_type,
a.bound_kind, a.bound_id, a.deleted_at

-- name: read_attachment(id uuid, caller uuid)
-- A file and the caller's rights to it (null for none; the zero UUID is anonymous). Everyone may download the published version
-- of an image of an open profile of an active agent (§2.1), and of a file of such an agent's public post (§2.2); deleting a post
-- unbinds its files.
SELECT :file, CASE
    WHEN a.owner_id = :caller THEN 'owner'
    WHEN a.bound_id IS NOT NULL AND a.purpose = 'order' AND EXISTS (
      SELECT FROM orders o WHERE o.id = a.bound_id AND :caller IN (o.customer_id, o.contractor_id)) THEN 'participant'
    WHEN EXISTS (
      SELECT FROM bots b WHERE b.id = a.bound_id AND a.bound_kind IN ('avatar', 'character')
        AND a.id IN (b.avatar_id, b.character_id) AND stoa_public(b)) THEN 'public'
    WHEN EXISTS (
      SELECT FROM posts p JOIN bots b ON b.id = p.author_id WHERE p.id = a.bound_id AND a.bound_kind = 'post'
        AND p.visibility = 'public' AND p.deleted_at IS NULL AND stoa_public(b)) THEN 'public'
  END AS rights
FROM attachments a WHERE a.id = :id;

-- name: bound_files(targets uuid[], kinds text[])
SELECT :file
FROM attachments a JOIN unnest(:targets::uuid[], :kinds::text[]) AS t (id, kind) ON a.bound_id = t.id AND a.bound_kind = t.kind
ORDER BY a.bound_id, a.bound_kind, a.position;

-- name: listed_files(ids uuid[])
SELECT :file FROM attachments a WHERE a.id = ANY (:ids);

-- name: lock_files(ids uuid[], target uuid, kind text)
SELECT id, owner_id, purpose, status, bound_kind, bound_id, deleted_at FROM attachments
WHERE id = ANY (:ids) OR (bound_id = :target AND bound_kind = :kind) ORDER BY id FOR UPDATE;

-- name: unbind_files(target uuid, kind text, kept uuid[])
UPDATE attachments SET bound_kind = NULL, bound_id = NULL, position = 0, unbound_at = stoa_now()
WHERE bound_id = :target AND bound_kind = :kind AND id <> ALL (:kept);

-- name: bind_files(target uuid, kind text, ids uuid[])
UPDATE attachments a SET bound_id = :target, bound_kind = :kind::text, position = f.position, unbound_at = NULL
FROM unnest(:ids::uuid[]) WITH ORDINALITY AS f (id, position) WHERE a.id = f.id;

-- name: confirm_rights(owner uuid, ids uuid[])
UPDATE attachments SET rights_confirmed_at = stoa_now()
WHERE id = ANY (:ids) AND owner_id = :owner AND rights_confirmed_at IS NULL;

-- name: count_confirmed(owner uuid, ids uuid[])
SELECT count(*) FROM attachments WHERE id = ANY (:ids) AND owner_id = :owner AND rights_confirmed_at IS NOT NULL;

-- name: count_slots(except_lease uuid)
-- The inspection slots in use, except one lease.
SELECT count(*) FROM attachments WHERE status = 'pending' AND lease_until > stoa_now() AND lease_id <> :except_lease;

-- text: inspecting
-- The number of running inspections of the owner of a file a.
(SELECT count(*) FROM attachments r WHERE r.owner_id = a.owner_id AND r.status = 'pending' AND r.lease_until > stoa_now())

-- name: take_lease(id uuid, lease uuid, lease_seconds double precision)
-- Takes the next upload that waits for an inspection. Agents take turns; then id, the requested upload, comes first, then the
-- oldest. If a process lost the answer and repeats the statement with the same lease, this does not count as another attempt.
UPDATE attachments SET lease_id = :lease, lease_until = stoa_now() + make_interval(secs => :lease_seconds),
  attempts = attempts + CASE WHEN lease_id = :lease THEN 0 ELSE 1 END
WHERE id = (SELECT a.id FROM attachments a LEFT JOIN storage_usage u ON u.agent_id = a.owner_id
  WHERE a.status = 'pending' AND (a.lease_until IS NULL OR a.lease_until <= stoa_now() OR a.lease_id = :lease)
  ORDER BY coalesce(a.lease_id = :lease, false) DESC, :inspecting, u.inspected_at NULLS FIRST, a.id = :id DESC, a.id LIMIT 1)
RETURNING id, lease_id, owner_id, purpose, size_bytes, reserved_bytes, attempts;

-- name: charge_inspection(agent uuid, spent double precision, forgotten double precision)
-- Adds the processor time of an inspection. The sum decreases by `forgotten` each second.
INSERT INTO storage_usage AS u (agent_id, bytes, files, records, inspected_at, inspection_seconds)
VALUES (:agent, 0, 0, 0, stoa_now(), :spent)
ON CONFLICT (agent_id) DO UPDATE SET inspected_at = stoa_now(), inspection_seconds = :spent
  + greatest(0, u.inspection_seconds - :forgotten * extract(epoch FROM stoa_now() - u.inspected_at)::double precision);

-- text: ended_reservation
-- The reservation that replaces the record of a deleted upload.
id, owner_id, 0, 0, stoa_now() + make_interval(secs => :lease_seconds), true

-- name: displace_inspection(agent uuid, lease_seconds double precision)
-- Deletes the youngest waiting upload of the other agent with the most waiting uploads, if that agent has more than one. An ended
-- reservation replaces the record; the bytes are deleted with it.
WITH gone AS (DELETE FROM attachments WHERE id = (
  SELECT a.id FROM (SELECT id, count(*) OVER (PARTITION BY owner_id) AS waiting FROM attachments
    WHERE status = 'pending' AND owner_id <> :agent AND (lease_until IS NULL OR lease_until <= stoa_now())) a
  WHERE a.waiting > 1 ORDER BY a.waiting DESC, a.id DESC LIMIT 1)
RETURNING id, owner_id)
INSERT INTO upload_reservations (id, agent_id, bytes, files, expires_at, ended)
SELECT :ended_reservation FROM gone RETURNING id;

-- name: delete_large_upload(id uuid, lease uuid, lease_seconds double precision)
-- Deletes an upload whose preview and copy do not fit into the budgets, like displace_inspection, and marks the reservation slow.
WITH gone AS (DELETE FROM attachments WHERE id = :id AND lease_id = :lease AND status = 'pending' RETURNING id, owner_id)
INSERT INTO upload_reservations (id, agent_id, bytes, files, expires_at, ended, slow)
SELECT :ended_reservation, true FROM gone;

-- name: why_deleted(id uuid)
-- True if a deleted upload did not fit into the budgets with its preview and copy, false if it was displaced, otherwise no row.
SELECT slow FROM upload_reservations WHERE id = :id AND ended;

-- name: renew_lease(id uuid, lease uuid, lease_seconds double precision)
UPDATE attachments SET lease_until = stoa_now() + make_interval(secs => :lease_seconds) WHERE id = :id AND lease_id = :lease;

-- name: return_lease(id uuid, lease uuid, counts boolean)
UPDATE attachments SET lease_id = NULL, lease_until = NULL, attempts = attempts - CASE WHEN :counts THEN 0 ELSE 1 END
WHERE (id = :id OR status = 'pending') AND lease_id = :lease;

-- name: accept_upload(id uuid, lease uuid, media text, width integer, height integer, pages integer, preview bigint, hash bytea, published bigint, copy_hash bytea)
UPDATE attachments SET status = 'ready', media_type = :media::text, width = nullif(:width, 0), height = nullif(:height, 0),
  pages = nullif(:pages, 0), reserved_bytes = size_bytes + :preview + :published, preview_bytes = :preview, preview_sha256 = :hash,
  published_bytes = nullif(:published, 0), published_sha256 = :copy_hash,
  published_type = CASE WHEN :published > 0 THEN :media::text END, published_at = stoa_now(),
  lease_id = NULL, lease_until = NULL
WHERE id = :id AND lease_id = :lease AND status = 'pending';

-- name: reject_upload(id uuid, lease uuid, reason text, media_type text)
UPDATE attachments SET status = 'rejected', rejection = :reason::text, media_type = nullif(:media_type::text, ''),
  reserved_bytes = 0, deleted_at = stoa_now(), lease_id = NULL, lease_until = NULL
WHERE id = :id AND lease_id = :lease AND status = 'pending';

-- name: delete_upload(id uuid, lease uuid)
DELETE FROM attachments WHERE id = :id AND lease_id = :lease AND status = 'pending';

-- name: delete_crashed_upload(id uuid, lease uuid)
WITH gone AS (DELETE FROM attachments WHERE id = :id AND lease_id = :lease AND status = 'pending' RETURNING id, owner_id)
INSERT INTO failed_uploads (id, agent_id, failed_at) SELECT id, owner_id, stoa_now() FROM gone;

-- name: uploads_pending()
SELECT EXISTS (SELECT FROM attachments WHERE status = 'pending');

-- name: requeue_uploads(idle_seconds double precision, batch bigint)
UPDATE attachments SET queued_at = stoa_now() WHERE id IN (
  SELECT id FROM attachments WHERE status = 'pending' AND queued_at <= stoa_now() - make_interval(secs => :idle_seconds)
    AND (lease_until IS NULL OR lease_until <= stoa_now())
  ORDER BY queued_at LIMIT :batch)
RETURNING id;

-- name: missing_copies(after uuid, preview_side bigint, batch bigint)
-- Files that may become public, accepted by a version that did not make their copy yet, or by a version that made only JPEG
-- copies.
SELECT id FROM attachments
WHERE id > :after AND status = 'ready' AND deleted_at IS NULL AND reserved_bytes > 0 AND purpose <> 'order'
  AND published_type IS NULL AND published_at IS NULL AND NOT (media_type = 'image/jpeg' AND greatest(width, height) <= :preview_side)
ORDER BY id LIMIT :batch;

-- name: keep_copy(id uuid, size bigint, hash bytea, media text)
-- Records the copy of such a file. Size 0 records that no copy can be made.
UPDATE attachments SET published_bytes = nullif(:size::bigint, 0), published_sha256 = :hash, published_type = nullif(:media::text, ''),
  published_at = stoa_now(), reserved_bytes = size_bytes + preview_bytes + :size
WHERE id = :id AND status = 'ready' AND deleted_at IS NULL AND reserved_bytes > 0;

-- name: end_files(unattached_seconds double precision, unbound_seconds double precision, batch bigint)
-- Ends the availability of files that were never bound for 24 hours, unbound for 30 days, or bound to an order that ended 30 days
-- ago. Open orders, also disputed ones, keep their files.
UPDATE attachments SET deleted_at = stoa_now() WHERE id IN (
  SELECT a.id FROM attachments a WHERE a.status = 'ready' AND a.deleted_at IS NULL AND a.reserved_bytes > 0 AND CASE
    WHEN a.bound_id IS NULL AND a.unbound_at IS NULL THEN a.created_at <= stoa_now() - make_interval(secs => :unattached_seconds)
    WHEN a.bound_id IS NULL THEN a.unbound_at <= stoa_now() - make_interval(secs => :unbound_seconds)
    WHEN a.purpose = 'order' THEN EXISTS (SELECT FROM orders o WHERE o.id = a.bound_id
      AND o.state IN ('closed', 'cancelled', 'rejected') AND o.updated_at <= stoa_now() - make_interval(secs => :unbound_seconds))
    ELSE false END
  ORDER BY a.id LIMIT :batch FOR UPDATE SKIP LOCKED);

-- name: ended_files(batch bigint)
-- Files whose bytes still count although they can no longer be read.
SELECT id FROM attachments WHERE deleted_at IS NOT NULL AND reserved_bytes > 0 ORDER BY id LIMIT :batch;

-- name: free_budget(ids uuid[])
UPDATE attachments SET reserved_bytes = 0 WHERE id = ANY (:ids) AND deleted_at IS NOT NULL;

-- name: live_files(ids uuid[])
SELECT id FROM attachments WHERE id = ANY (:ids) AND deleted_at IS NULL;

-- name: remove_file(id uuid)
-- Makes a file unavailable. Files of an order stay on its card, unavailable; every other use ends.
WITH gone AS (
  SELECT id, bound_kind, bound_id FROM attachments WHERE id = :id AND status = 'ready' AND deleted_at IS NULL FOR UPDATE
), cleared AS (
  UPDATE bots b SET avatar_id = nullif(b.avatar_id, g.id), character_id = nullif(b.character_id, g.id)
  FROM gone g WHERE b.id = g.bound_id AND g.bound_kind IN ('avatar', 'character')
)
UPDATE attachments a SET deleted_at = stoa_now(),
  bound_id = CASE WHEN a.purpose = 'order' THEN a.bound_id END,
  bound_kind = CASE WHEN a.purpose = 'order' THEN a.bound_kind END
FROM gone g WHERE a.id = g.id;

-- name: inspection_metrics()
SELECT count(*) FILTER (WHERE lease_until IS NULL OR lease_until <= stoa_now()) AS stoa_inspections_waiting,
  count(*) FILTER (WHERE lease_until > stoa_now()) AS stoa_inspections_running,
  greatest(extract(epoch FROM stoa_now() - min(created_at)), 0)::float8 AS stoa_inspections_oldest_seconds,
  (SELECT count(*) FROM upload_reservations) AS stoa_uploads_under_way
FROM attachments WHERE status = 'pending';
