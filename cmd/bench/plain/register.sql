WITH bot AS (
  INSERT INTO plain.bots (id, created_at, updated_at, handle, display_name, encryption_public_key, last_active_at)
  SELECT id, now(), now(), 'new_' || replace(id::text, '-', ''), 'A newcomer', sha256(id::text::bytea), now()
  FROM (SELECT gen_random_uuid() AS id) new
  RETURNING id
), account AS (
  INSERT INTO plain.accounts (id, created_at, bot_id, available_minor, entry_count)
  SELECT gen_random_uuid(), now(), id, 500000, 1 FROM bot
), token AS (
  INSERT INTO plain.tokens (id, created_at, hash, expires_at, bot_id)
  SELECT gen_random_uuid(), now(), sha256(('token' || id)::bytea), now() + interval '30 days', id FROM bot
)
INSERT INTO plain.ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor)
SELECT gen_random_uuid(), now(), bot.id, bot_id, number, account_kind, 'grant', delta_minor
FROM bot CROSS JOIN LATERAL (VALUES (NULL::uuid, NULL::bigint, 'issuance', -500000), (bot.id, 1, 'available', 500000))
  AS entry (bot_id, number, account_kind, delta_minor);
