-- name: insert_events(ids uuid[], recipients uuid[], kinds text[], payloads bytea[])
-- Draws sequences in the order of the arrays. The condition is always true and evaluated first: it assigns the transaction number
-- before a sequence is drawn. Reads up to the horizon rely on this order.
INSERT INTO events (id, recipient_id, kind, payload, created_at)
SELECT id, recipient_id, kind, payload, stoa_now()
FROM unnest(:ids::uuid[], :recipients::uuid[], :kinds::text[], :payloads::bytea[]) WITH ORDINALITY
  AS e (id, recipient_id, kind, payload, position)
WHERE pg_current_xact_id() IS NOT NULL
ORDER BY position;

-- text: first_kind(e)
-- Whether version 1 has the kind of event e: the condition of the index event_first_kinds (migration 0059).
e.kind IN ('contact.requested', 'contact.accepted', 'contact.blocked', 'message.created', 'order.changed')

-- name: fetch_events(recipient uuid, first_kinds boolean, after bigint, known bigint, size bigint, skip_own boolean, own_kind text)
-- Reads a batch of a recipient's events, of all kinds or of the kinds of version 1, from an index on recipient and sequence, and
-- their messages by key; LIMIT 1 enforces this plan. The number of rows read depends on the size of the batch and not on how many
-- events are in flight or of other kinds. Events up to `known` are returned without kind, payload and message. The message's
-- columns are null, or the default of coalesce, unless the message can be delivered: it has not expired and its contact is
-- accepted (§6).
--
-- `own` marks own acts: events of `own_kind` whose actor is their recipient. Payloads are parsed only if the cursor skips own
-- acts.
SELECT e.id, e.sequence, e.kind, e.payload, e.created_at, e.message_id IS NOT NULL AS has_message, e.own,
  m.id AS "message.id", m.contact_id AS "message.contact_id", m.client_message_id AS "message.client_message_id",
  m.sender_id AS "message.sender_id", m.recipient_id AS "message.recipient_id", m.nonce AS "message.nonce",
  m.ciphertext AS "message.ciphertext", coalesce(m.encryption_version, '') AS "message.encryption_version",
  m.sender_public_key AS "message.sender_public_key", m.recipient_public_key AS "message.recipient_public_key",
  coalesce(m.size_bytes, 0) AS "message.size_bytes", coalesce(m.created_at, 'epoch') AS "message.created_at",
  coalesce(m.expires_at, 'epoch') AS "message.expires_at"
FROM (
  SELECT i.id, i.sequence, i.created_at, CASE WHEN i.sequence > :known THEN i.kind END AS kind,
    CASE WHEN i.sequence > :known THEN i.payload END AS payload,
    CASE WHEN i.sequence > :known THEN i.message_id END AS message_id,
    CASE WHEN :skip_own::boolean AND i.kind = :own_kind::text THEN
      convert_from(i.payload, 'UTF8')::json ->> 'actor_id' IS NOT DISTINCT FROM i.recipient_id::text ELSE false END AS own
  FROM (
    (SELECT * FROM events f WHERE :first_kinds::boolean AND f.recipient_id = :recipient AND f.sequence > :after AND :first_kind(f)
     ORDER BY f.sequence LIMIT :size)
    UNION ALL
    (SELECT * FROM events a WHERE NOT :first_kinds AND a.recipient_id = :recipient AND a.sequence > :after
     ORDER BY a.sequence LIMIT :size)
  ) i
) e
LEFT JOIN LATERAL (
  SELECT r.* FROM messages r JOIN contacts f ON f.id = r.contact_id
  WHERE r.id = e.message_id AND r.expires_at > stoa_now() AND f.state = 'accepted'
  LIMIT 1
) m ON true
ORDER BY e.sequence;

-- name: delete_events(ids uuid[])
DELETE FROM events WHERE id = ANY (:ids);

-- name: acknowledge_events(recipient uuid, ids uuid[])
-- Returns the events that existed.
DELETE FROM events WHERE recipient_id = :recipient AND id = ANY (:ids) RETURNING id;

-- name: select_waiting()
-- The connected agents whose newest event is less than a minute old. An agent with older events was already woken sixty times for
-- them. An agent that acknowledges nothing costs one look-up in the index.
SELECT DISTINCT l.bot_id FROM socket_leases l JOIN socket_live_processes p USING (process)
CROSS JOIN LATERAL (SELECT e.created_at FROM events e WHERE e.recipient_id = l.bot_id ORDER BY e.sequence DESC LIMIT 1) newest
WHERE newest.created_at > stoa_now() - interval '1 minute';

-- name: delete_stale(after uuid, retention_seconds double precision)
-- Examines the next 2000 events by id; without that number the planner reads whole tables. It deletes events past their
-- retention, and announcements of messages that have expired or whose contact is no longer accepted. Each message is looked
-- up by its key; with NOT EXISTS the planner would read all messages.
WITH examined AS (
  SELECT id, created_at, message_id FROM events WHERE id > :after ORDER BY id LIMIT 2000
), gone AS (
  DELETE FROM events e USING examined x WHERE e.id = x.id AND (
    x.created_at <= stoa_now() - make_interval(secs => :retention_seconds)
    OR (x.message_id IS NOT NULL AND (
      SELECT m.id FROM messages m JOIN contacts c ON c.id = m.contact_id
      WHERE m.id = x.message_id AND m.expires_at > stoa_now() AND c.state = 'accepted') IS NULL))
  RETURNING e.id
)
SELECT (SELECT id FROM examined ORDER BY id DESC LIMIT 1) AS last_id, (SELECT count(*) FROM gone) AS changed;

-- name: select_drawn()
-- The last drawn sequence, and the oldest running transaction.
SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS drawn, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest
FROM event_sequence;

-- name: select_mark()
-- Draws a transaction number. All numbers drawn before it are smaller.
SELECT pg_current_xact_id()::text::bigint;

-- name: select_metrics()
-- Counts up to 100,000 events and finds the oldest ones in the indexes. The oldest of all is the first by its id, which begins
-- with the time. A connected agent's oldest event is its first in the sequence. Only kinds of the first version count, because a
-- connection with that version does not receive the others.
SELECT (SELECT count(*) FROM (SELECT FROM events LIMIT 100000) e) AS stoa_outbox_events,
  greatest(extract(epoch FROM stoa_now() - (SELECT e.created_at FROM events e ORDER BY e.id LIMIT 1)), 0)::float8 AS stoa_outbox_oldest_seconds,
  greatest(extract(epoch FROM stoa_now() - (
    SELECT min(first.created_at) FROM (SELECT DISTINCT l.bot_id FROM socket_leases l JOIN socket_live_processes p USING (process)) c
    CROSS JOIN LATERAL (SELECT e.created_at FROM events e WHERE e.recipient_id = c.bot_id AND :first_kind(e)
      ORDER BY e.sequence LIMIT 1) first)), 0)::float8
    AS stoa_outbox_connected_oldest_seconds;

-- name: next_process()
SELECT nextval('socket_process');

-- name: live_processes()
SELECT process FROM socket_live_processes;

-- name: open_slot(slot uuid, process integer, agent uuid, token uuid, per_agent integer, total integer)
SELECT stoa_open_socket(:slot, :process, :agent, :token, :per_agent, :total);

-- name: count_slots(agent uuid)
-- The processes are only listed if the agent has a slot.
SELECT count(*) FROM socket_leases WHERE bot_id = :agent AND process = ANY (ARRAY(SELECT process FROM socket_live_processes));

-- name: keep_slots(process integer, slots uuid[], agents uuid[], tokens uuid[])
SELECT stoa_keep_sockets(:process, :slots, :agents, :tokens);

-- name: close_slot(slot uuid)
SELECT stoa_close_sockets(ARRAY[:slot::uuid]);

-- name: delete_dead_slots()
SELECT stoa_drop_dead_sockets();
