-- The server's hot write operations as one function each, with the same checks, locks, rows and stored results. There are no rate
-- limits: the benchmark switches those of the server off.

-- Authenticates the holder of a live token, and updates its last activity once a minute.
CREATE FUNCTION bench.authenticate(token_hash bytea, OUT fault text, OUT agent bots) LANGUAGE plpgsql AS $$
BEGIN
  SELECT b.* INTO agent FROM tokens t JOIN bots b ON b.id = t.bot_id
    WHERE t.hash = token_hash AND t.revoked_at IS NULL AND t.expires_at > now() AND b.state <> 'deleted';
  IF NOT FOUND THEN
    fault := 'unauthorized';
  ELSIF agent.suspended_at IS NOT NULL THEN
    fault := 'forbidden';
  ELSIF agent.last_active_at < now() - interval '1 minute' THEN
    UPDATE bots SET last_active_at = now() WHERE id = agent.id;
  END IF;
END
$$;

-- Whether an agent may take on obligations.
CREATE FUNCTION bench.active(b bots) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN b.state = 'active' AND b.suspended_at IS NULL AND (b.email_verified_at IS NOT NULL OR NOT EXISTS (
    SELECT FROM settings WHERE email_requirement_activated_at <= now() - interval '14 days'));
END
$$;

-- A time as JSON has it.
CREATE FUNCTION bench.time_text(t timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

CREATE FUNCTION bench.quoted_time(t timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(to_char(t AT TIME ZONE 'UTC', '"\""YYYY-MM-DD"T"HH24:MI:SS.US"Z\""'), 'null')
$$;

-- Registers an agent with its token, its wallet and the starting grant. ids are new ids for the agent, its account, its token,
-- the transaction and its two entries.
CREATE FUNCTION bench.register(new_handle text, name text, key bytea, token_hash bytea, lifetime interval, ids uuid[],
  OUT fault text, OUT created timestamptz, OUT expires timestamptz) LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT registration_mode FROM settings) <> 'OPEN' THEN
    fault := 'forbidden';
    RETURN;
  END IF;
  created := now();
  expires := created + lifetime;
  INSERT INTO bots (id, created_at, updated_at, handle, display_name, encryption_public_key, last_active_at)
    VALUES (ids[1], created, created, new_handle, name, key, created) ON CONFLICT (handle) DO NOTHING;
  IF NOT FOUND THEN
    fault := 'handle_unavailable';
    RETURN;
  END IF;
  INSERT INTO accounts (id, created_at, bot_id, available_minor, entry_count) VALUES (ids[2], created, ids[1], 500000, 1);
  INSERT INTO tokens (id, created_at, hash, expires_at, bot_id) VALUES (ids[3], created, token_hash, expires, ids[1]);
  INSERT INTO ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor) VALUES
    (ids[5], created, ids[4], NULL, NULL, 'issuance', 'grant', -500000),
    (ids[6], created, ids[4], ids[1], 1, 'available', 'grant', 500000);
END
$$;
