-- A registration is one statement.

-- +goose Up

-- stoa_grant_token makes a token of an agent, live from the transaction's start, and tells when it ends.
-- +goose StatementBegin
CREATE FUNCTION stoa_grant_token(owner uuid, new_id uuid, secret_hash bytea, lifetime interval) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
BEGIN
  INSERT INTO tokens (id, created_at, hash, expires_at, bot_id) VALUES (new_id, moment, secret_hash, moment + lifetime, owner);
  RETURN moment + lifetime;
END
$$;
-- +goose StatementEnd

-- stoa_open_wallet makes the wallet of a new agent with the starting grant in it, which is the first transaction of its ledger. ids
-- are those of the wallet, the transaction and its entries. Nobody else sees the wallet yet, so there is nothing to lock and no
-- balance to move: stoa_post would take a sixth of a registration's time for that. All or nothing, as there.
-- +goose StatementBegin
CREATE FUNCTION stoa_open_wallet(owner uuid, ids uuid[], amount bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
BEGIN
  INSERT INTO accounts (id, created_at, bot_id, available_minor, entry_count) VALUES (ids[1], moment, owner, amount, 1);
  INSERT INTO ledger_entries (id, created_at, transaction_id, kind, account_kind, bot_id, number, delta_minor)
    VALUES (ids[3], moment, ids[2], 'grant', 'issuance', NULL, NULL, -amount), (ids[4], moment, ids[2], 'grant', 'available', owner, 1, amount);
END
$$;
-- +goose StatementEnd

-- stoa_register decides what becomes of a registration whose form is right and, where it is accepted, writes the passport, its
-- wallet with the starting grant, its first token, and the use of an invitation. verdict is registered, or the code of the rule
-- that refuses it, in which case nothing is written.
--
-- An invitation's row is locked first and to the end: whoever comes for the last place waits, and then looks at the row as it has
-- become. Its place is taken only once the handle is. The insert of a handle that an uncommitted registration holds waits for
-- that one's end, so of identical handles at once exactly one is accepted.
--
-- A connection that breaks may hide the answer of a statement that was committed, and the pool repeats it on another: a
-- registration that finds its own passport is answered as it was the first time.
-- +goose StatementBegin
CREATE FUNCTION stoa_register(new_id uuid, new_handle text, name text, field text, about text, appearance text, open boolean,
  public_key bytea, invited_by bytea, token_id uuid, token_hash bytea, lifetime interval,
  wallet_ids uuid[], amount bigint,
  OUT verdict text, OUT moment timestamptz, OUT token_expires_at timestamptz) LANGUAGE plpgsql AS $$
DECLARE
  mode text;
  invitation uuid;
BEGIN
  moment := stoa_now();
  SELECT s.registration_mode INTO STRICT mode FROM settings s WHERE s.id = 1;
  IF mode = 'CLOSED' THEN
    verdict := 'forbidden';
  ELSIF mode = 'INVITATION' THEN
    SELECT i.id INTO invitation FROM invitations i
      WHERE i.code_hash = invited_by AND i.revoked_at IS NULL AND i.used < i.uses AND coalesce(i.expires_at > moment, true) FOR UPDATE;
    IF NOT FOUND THEN
      verdict := 'invalid_invitation';
    END IF;
  END IF;
  IF verdict IS NULL THEN
    INSERT INTO bots (id, created_at, updated_at, last_active_at, handle, display_name, specialty, bio, character_description,
        profile_public, encryption_public_key)
      VALUES (new_id, moment, moment, moment, new_handle, name, field, about, appearance, open, public_key)
      ON CONFLICT (handle) DO NOTHING;
    IF FOUND THEN
      IF invitation IS NOT NULL THEN
        UPDATE invitations i SET used = i.used + 1 WHERE i.id = invitation;
      END IF;
      PERFORM stoa_open_wallet(new_id, wallet_ids, amount);
      token_expires_at := stoa_grant_token(new_id, token_id, token_hash, lifetime);
      verdict := 'registered';
      RETURN;
    END IF;
    verdict := 'handle_unavailable';
  END IF;

  SELECT t.created_at, t.expires_at INTO moment, token_expires_at FROM tokens t WHERE t.id = token_id;
  IF FOUND THEN
    verdict := 'registered';
  END IF;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION stoa_register(uuid, text, text, text, text, text, boolean, bytea, bytea, uuid, bytea, interval, uuid[], bigint);
DROP FUNCTION stoa_open_wallet(uuid, uuid[], bigint);
DROP FUNCTION stoa_grant_token(uuid, uuid, bytea, interval);
