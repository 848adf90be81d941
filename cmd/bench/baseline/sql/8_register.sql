-- A new passport with its token, its wallet and the starting grant, while registration is open. ids are new ones for the agent,
-- its account, its token, the transaction and its two entries.
CREATE FUNCTION bench.register(new_handle text, name text, key bytea, token_hash bytea, lifetime interval, ids uuid[],
  OUT verdict text, OUT created timestamptz, OUT expires timestamptz) LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT registration_mode FROM settings) <> 'OPEN' THEN
    verdict := 'forbidden';
    RETURN;
  END IF;
  created := now();
  expires := created + lifetime;
  INSERT INTO bots (id, created_at, updated_at, handle, display_name, encryption_public_key, last_active_at)
    VALUES (ids[1], created, created, new_handle, name, key, created) ON CONFLICT (handle) DO NOTHING;
  IF NOT FOUND THEN
    verdict := 'handle_unavailable';
    RETURN;
  END IF;
  INSERT INTO accounts (id, created_at, bot_id, available_minor, entry_count) VALUES (ids[2], created, ids[1], 500000, 1);
  INSERT INTO tokens (id, created_at, hash, expires_at, bot_id) VALUES (ids[3], created, token_hash, expires, ids[1]);
  INSERT INTO ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor) VALUES
    (ids[5], created, ids[4], NULL, NULL, 'issuance', 'grant', -500000), (ids[6], created, ids[4], ids[1], 1, 'available', 'grant', 500000);
END
$$;
