-- Sending a message is one statement.

-- stoa_send decides about an envelope that is well formed. If it accepts, it writes the message, its guard and its announcement.
-- verdict is accepted, repeated, or the code of the rule that refuses the envelope.
--
-- It locks the contact's row first and until the transaction ends: it sees an earlier block, and a later block waits. It inserts
-- the guard before it writes anything else. If one of its three unique indexes already holds the same values, the insert first
-- waits for a sender that has not committed yet. Each statement here sees what was committed before it began, so the look-up
-- below then distinguishes a repeat from a reused nonce, and exactly one of several identical concurrent sends is accepted. That
-- look-up also runs for envelopes that a rule refuses, because the check for a repeat precedes every rule. The limit is taken
-- last, so that only new messages count.
CREATE OR REPLACE FUNCTION stoa_send(new_id uuid, new_event_id uuid, e message_envelope, retention interval,
  limit_name text, quota integer, span interval,
  OUT verdict text, OUT id uuid, OUT contact_id uuid, OUT created_at timestamptz, OUT expires_at timestamptz,
  OUT remaining integer, OUT reset_after double precision) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := stoa_now();
  pair_id uuid;
  refusal text;
  allowed boolean;
  past record;
BEGIN
  SELECT c.id, CASE
      WHEN c.state <> 'accepted' OR r.state = 'deleted' THEN 'contact_not_accepted'
      WHEN NOT stoa_active(s, x) THEN 'inactive_bot'
      WHEN s.encryption_public_key <> e.sender_public_key OR r.encryption_public_key <> e.recipient_public_key THEN 'key_changed'
    END
    INTO pair_id, refusal
    FROM contacts c JOIN settings x ON x.id = 1 JOIN bots s ON s.id = e.sender_id JOIN bots r ON r.id = e.recipient_id
    WHERE c.low_id = least(e.sender_id, e.recipient_id) AND c.high_id = greatest(e.sender_id, e.recipient_id)
    FOR SHARE OF c;
  IF NOT FOUND THEN
    refusal := 'contact_not_accepted';
  END IF;

  IF refusal IS NULL THEN
    INSERT INTO message_guards (id, contact_id, sender_id, client_message_id, nonce)
      VALUES (new_id, pair_id, e.sender_id, e.client_message_id, e.nonce) ON CONFLICT DO NOTHING;
    IF FOUND THEN
      SELECT t.allowed, t.remaining, t.reset_after INTO allowed, remaining, reset_after
        FROM stoa_take(limit_name, e.sender_id::text, quota, span) t;
      IF NOT allowed THEN
        DELETE FROM message_guards g WHERE g.id = new_id;
        verdict := 'rate_limited';
        RETURN;
      END IF;
      verdict := 'accepted';
      id := new_id;
      contact_id := pair_id;
      created_at := moment;
      expires_at := moment + retention;
      INSERT INTO messages (id, created_at, contact_id, sender_id, recipient_id, client_message_id, encryption_version, nonce,
          ciphertext, sender_public_key, recipient_public_key, size_bytes, expires_at)
        VALUES (new_id, moment, pair_id, e.sender_id, e.recipient_id, e.client_message_id, e.encryption_version, e.nonce,
          e.ciphertext, e.sender_public_key, e.recipient_public_key, octet_length(e.ciphertext), moment + retention);
      INSERT INTO events (id, created_at, recipient_id, kind, payload, contact_id, message_id)
        VALUES (new_event_id, moment, e.recipient_id, 'message.created', convert_to(format(
          '{"message_id":"%s","contact_id":"%s","sender_id":"%s","client_message_id":"%s","created_at":"%s"}',
          new_id, pair_id, e.sender_id, e.client_message_id, to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
          'UTF8'), pair_id, new_id);
      RETURN;
    END IF;
    refusal := 'nonce_reuse';
  END IF;

  SELECT g.id, m.contact_id, m.created_at, m.expires_at, CASE
      WHEN m.id IS NULL OR m.expires_at <= moment THEN 'message_expired'
      WHEN m.recipient_id = e.recipient_id AND m.nonce = e.nonce AND m.ciphertext = e.ciphertext
        AND m.encryption_version = e.encryption_version AND m.sender_public_key = e.sender_public_key AND m.recipient_public_key = e.recipient_public_key
        THEN 'repeated'
      ELSE 'idempotency_conflict'
    END AS verdict
    INTO past
    FROM message_guards g LEFT JOIN messages m ON m.id = g.id
    WHERE g.sender_id = e.sender_id AND g.client_message_id = e.client_message_id;
  IF NOT FOUND THEN
    verdict := refusal;
    RETURN;
  END IF;
  verdict := past.verdict;
  IF verdict = 'repeated' THEN
    id := past.id;
    contact_id := past.contact_id;
    created_at := past.created_at;
    expires_at := past.expires_at;
  END IF;
END
$$;
