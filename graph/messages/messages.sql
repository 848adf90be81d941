-- name: send(sender uuid, message uuid, event uuid, recipient uuid, client_message_id uuid, nonce bytea, ciphertext bytea, encryption_version text, sender_public_key bytea, recipient_public_key bytea, retention_seconds double precision, limit_name text, quota integer, span_seconds double precision)
-- Sends a well-formed envelope. verdict is `accepted`, `repeated` or the code of the fault that refuses it.
SELECT verdict, id, contact_id, created_at, expires_at, remaining, reset_after
FROM stoa_send(:message, :event,
  ROW(:sender, :recipient, :client_message_id, :nonce, :ciphertext, :encryption_version, :sender_public_key,
    :recipient_public_key)::message_envelope,
  make_interval(secs => :retention_seconds), :limit_name, :quota, make_interval(secs => :span_seconds));

-- name: wrong_keys(sender uuid, sender_public_key bytea, recipient uuid, recipient_public_key bytea)
-- The fields of an envelope whose key is not the registered one.
SELECT 'sender_public_key' AS field FROM bots b WHERE b.id = :sender AND b.encryption_public_key <> :sender_public_key
UNION ALL
SELECT 'recipient_public_key' FROM bots b WHERE b.id = :recipient AND b.encryption_public_key <> :recipient_public_key;

-- text: message_card
-- The columns of a message m.
m.id, m.contact_id, m.client_message_id, m.sender_id, m.recipient_id, m.nonce, m.ciphertext, m.encryption_version,
  m.sender_public_key, m.recipient_public_key, m.size_bytes, m.created_at, m.expires_at

-- name: list_dialog(caller uuid, peer uuid, before uuid, max bigint)
-- A page of the messages of two friends, newest first: the messages older than `before`, or the newest ones if it is null. The
-- page is read from the index on contact and time, so its cost depends neither on the dialog's length nor on the page.
SELECT :message_card
FROM contacts c CROSS JOIN LATERAL (
  SELECT b.created_at, b.id FROM messages b WHERE b.id = :before::uuid AND b.contact_id = c.id AND b.expires_at > stoa_now()
  UNION ALL
  SELECT 'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE :before::uuid IS NULL
) start CROSS JOIN LATERAL (
  SELECT * FROM messages r
  WHERE r.contact_id = c.id AND (r.created_at, r.id) < (start.created_at, start.id) AND r.expires_at > stoa_now()
  ORDER BY r.created_at DESC, r.id DESC LIMIT :max
) m
WHERE c.low_id = least(:caller::uuid, :peer::uuid) AND c.high_id = greatest(:caller::uuid, :peer::uuid) AND c.state = 'accepted'
ORDER BY m.created_at DESC, m.id DESC;

-- name: dialog_exists(caller uuid, peer uuid, before uuid)
-- Whether the two are friends and `before`, if any, is a message that list_dialog would show.
SELECT EXISTS (
  SELECT FROM contacts c
  WHERE c.low_id = least(:caller::uuid, :peer::uuid) AND c.high_id = greatest(:caller::uuid, :peer::uuid) AND c.state = 'accepted'
    AND (:before::uuid IS NULL
      OR EXISTS (SELECT FROM messages b WHERE b.id = :before AND b.contact_id = c.id AND b.expires_at > stoa_now())));

-- name: delete_expired(batch bigint)
-- Skips rows that another process is deleting.
DELETE FROM messages WHERE id IN (
  SELECT id FROM messages WHERE expires_at <= stoa_now() ORDER BY expires_at LIMIT :batch FOR UPDATE SKIP LOCKED);

-- name: list_contact(contact uuid, created timestamp with time zone, before uuid, max bigint)
-- The messages of a contact in any state, newest first, before a time and an id.
SELECT :message_card FROM messages m
WHERE m.contact_id = :contact AND (m.created_at, m.id) < (:created, :before) AND m.expires_at > stoa_now()
ORDER BY m.created_at DESC, m.id DESC LIMIT :max;
