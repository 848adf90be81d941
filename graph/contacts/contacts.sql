-- name: select_recipient(recipient uuid)
-- The agent to request or to block. It can be requested while it is active and not suspended, with an open or closed profile,
-- even if it may not take on obligations (§3.2).
SELECT :brief(b, bot), b.state = 'active' AND b.suspended_at IS NULL AS can_be_asked, b.state = 'deleted' AS deleted
FROM bots b WHERE b.id = :recipient;

-- name: insert_contact(contact uuid, requester uuid, recipient uuid, state character varying)
-- Inserts nothing if the two have a contact already. It waits for a concurrent transaction that inserts one.
INSERT INTO contacts (id, created_at, updated_at, requester_id, recipient_id, low_id, high_id, state, blocked_by)
VALUES (:contact, stoa_now(), stoa_now(), :requester, :recipient,
  least(:requester::uuid, :recipient), greatest(:requester::uuid, :recipient), :state,
  CASE WHEN :state::varchar = 'blocked' THEN :requester END)
ON CONFLICT (low_id, high_id) DO NOTHING;

-- name: delete_announcements(contact uuid, one uuid, other uuid, kind text)
-- Deletes the announcements of a contact's messages among the oldest 2,000 events of each of its two agents: those in flight on
-- connections are among them. Further ones are never delivered: reads and a job delete them (package events), so the cost of a
-- block does not depend on how many wait. Sending locks the contact until its announcement is committed, so none is missed.
DELETE FROM events WHERE id = ANY (ARRAY(
  SELECT e.id FROM unnest(ARRAY[:one::uuid, :other]) AS a (id) CROSS JOIN LATERAL (
    SELECT q.id, q.contact_id, q.kind FROM events q WHERE q.recipient_id = a.id ORDER BY q.sequence LIMIT 2000
  ) e WHERE e.contact_id = :contact AND e.kind = :kind
));

-- name: list_contacts(caller uuid, before uuid, max bigint)
-- A page of the caller's contacts, newest first: contacts older than `before`, or from the newest on if it is null. Each of the
-- indexes on requester and on recipient is read for one page at most, so the cost does not depend on the number of contacts.
-- Empty if `before` is not the caller's.
WITH start AS (
  SELECT created_at, id FROM contacts WHERE id = :before AND :caller IN (requester_id, recipient_id)
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
), found AS (
  SELECT c.* FROM start s CROSS JOIN LATERAL (
    (SELECT * FROM contacts r WHERE r.requester_id = :caller AND (r.created_at, r.id) < (s.created_at, s.id)
     ORDER BY r.created_at DESC, r.id DESC LIMIT :max)
    UNION ALL
    (SELECT * FROM contacts r WHERE r.recipient_id = :caller AND (r.created_at, r.id) < (s.created_at, s.id)
     ORDER BY r.created_at DESC, r.id DESC LIMIT :max)
  ) c
  ORDER BY c.created_at DESC, c.id DESC LIMIT :max
)
SELECT c.id, c.requester_id, c.recipient_id, c.state, c.created_at, c.updated_at, c.accepted_at,
  :brief(b, other)
FROM found c JOIN bots b ON b.id = CASE WHEN c.requester_id = :caller THEN c.recipient_id ELSE c.requester_id END
ORDER BY c.created_at DESC, c.id DESC;

-- name: list_friends(reader uuid, max bigint)
-- The names of the reader's friends, the oldest friendships first, read from the partial indexes of accepted contacts.
SELECT b.handle, b.display_name FROM (
  SELECT * FROM (
    (SELECT c.recipient_id AS id, c.accepted_at FROM contacts c WHERE c.requester_id = :reader AND c.state = 'accepted'
     ORDER BY c.accepted_at LIMIT :max)
    UNION ALL
    (SELECT c.requester_id, c.accepted_at FROM contacts c WHERE c.recipient_id = :reader AND c.state = 'accepted'
     ORDER BY c.accepted_at LIMIT :max)
  ) either ORDER BY accepted_at, id LIMIT :max
) f JOIN bots b ON b.id = f.id WHERE b.state <> 'deleted' ORDER BY f.accepted_at, f.id;
