\set n 2 * :client_id
WITH pair AS (
  SELECT c.id, a.id AS sender, r.id AS recipient, a.encryption_public_key AS sender_key, r.encryption_public_key AS recipient_key
  FROM plain.agent(:n::integer) a JOIN plain.callers f ON f.n = :n::integer + 1 JOIN plain.bots r ON r.id = f.id
  JOIN plain.contacts c ON c.low_id = least(a.id, r.id) AND c.high_id = greatest(a.id, r.id) AND c.state = 'accepted'
  FOR SHARE OF c
), guard AS (
  INSERT INTO plain.message_guards (id, contact_id, sender_id, client_message_id, nonce)
  SELECT gen_random_uuid(), id, sender, gen_random_uuid(), decode(md5(random()::text), 'hex') || '\x0011223344556677' FROM pair
  RETURNING *
), message AS (
  INSERT INTO plain.messages (id, created_at, contact_id, sender_id, recipient_id, client_message_id, encryption_version, nonce,
    ciphertext, sender_public_key, recipient_public_key, size_bytes, expires_at)
  SELECT g.id, now(), g.contact_id, g.sender_id, p.recipient, g.client_message_id, 'box-v1', g.nonce,
    decode(repeat(md5(random()::text), 64), 'hex'), p.sender_key, p.recipient_key, 1024, now() + interval '90 days'
  FROM guard g CROSS JOIN pair p
  RETURNING *
)
INSERT INTO plain.events (id, created_at, recipient_id, kind, payload, contact_id, message_id)
SELECT gen_random_uuid(), now(), recipient_id, 'message.created', convert_to(json_build_object('message_id', id, 'contact_id',
  contact_id, 'sender_id', sender_id, 'client_message_id', client_message_id, 'created_at', created_at)::text, 'UTF8'), contact_id, id
FROM message;
