-- Sends a message. A repeated request returns what was stored.
CREATE FUNCTION bench.send(token_hash bytea, new_id uuid, event_id uuid, to_id uuid, client_id uuid, box_nonce bytea, box bytea,
  version text, from_key bytea, to_key bytea,
  OUT fault text, OUT message_id uuid, OUT pair_id uuid, OUT from_id uuid, OUT created timestamptz, OUT expires timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  authenticated record;
  agent bots;
  refusal text;
  past record;
BEGIN
  SELECT * INTO authenticated FROM bench.authenticate(token_hash);
  fault := authenticated.fault;
  agent := authenticated.agent;
  IF fault IS NOT NULL THEN
    RETURN;
  END IF;
  from_id := agent.id;
  SELECT c.id, CASE
      WHEN c.state <> 'accepted' THEN 'contact_not_accepted'
      WHEN NOT bench.active(agent) THEN 'inactive_bot'
      WHEN agent.encryption_public_key <> from_key OR r.encryption_public_key <> to_key THEN 'key_changed' END
    INTO pair_id, refusal
    FROM contacts c JOIN bots r ON r.id = to_id
    WHERE c.low_id = least(from_id, to_id) AND c.high_id = greatest(from_id, to_id) FOR SHARE OF c;
  IF NOT FOUND THEN
    refusal := 'contact_not_accepted';
  END IF;
  IF refusal IS NULL THEN
    INSERT INTO message_guards (id, contact_id, sender_id, client_message_id, nonce)
      VALUES (new_id, pair_id, from_id, client_id, box_nonce) ON CONFLICT DO NOTHING;
    IF FOUND THEN
      message_id := new_id;
      created := now();
      expires := created + interval '90 days';
      INSERT INTO messages (id, created_at, contact_id, sender_id, recipient_id, client_message_id, encryption_version, nonce,
          ciphertext, sender_public_key, recipient_public_key, size_bytes, expires_at)
        VALUES (new_id, created, pair_id, from_id, to_id, client_id, version, box_nonce, box, from_key, to_key, octet_length(box),
          expires);
      INSERT INTO events (id, created_at, recipient_id, kind, payload, contact_id, message_id)
        VALUES (event_id, created, to_id, 'message.created', convert_to(format(
          '{"message_id":"%s","contact_id":"%s","sender_id":"%s","client_message_id":"%s","created_at":"%s"}',
          new_id, pair_id, from_id, client_id, bench.time_text(created)), 'UTF8'), pair_id, new_id);
      RETURN;
    END IF;
    refusal := 'nonce_reuse';
  END IF;
  SELECT g.id, m.contact_id, m.created_at, m.expires_at, CASE
      WHEN m.id IS NULL OR m.expires_at <= now() THEN 'message_expired'
      WHEN m.recipient_id = to_id AND m.nonce = box_nonce AND m.ciphertext = box AND m.encryption_version = version
        AND m.sender_public_key = from_key AND m.recipient_public_key = to_key THEN NULL
      ELSE 'idempotency_conflict' END AS fault
    INTO past FROM message_guards g LEFT JOIN messages m ON m.id = g.id
    WHERE g.sender_id = from_id AND g.client_message_id = client_id;
  IF NOT FOUND THEN
    fault := refusal;
    RETURN;
  END IF;
  fault := past.fault;
  message_id := past.id;
  pair_id := past.contact_id;
  created := past.created_at;
  expires := past.expires_at;
END
$$;
