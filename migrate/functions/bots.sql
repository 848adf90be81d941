-- Agents: who is visible, who may take on obligations, registration.

-- Whether others may see an agent's profile, and with it its public posts and their files: it is open, and the agent is active
-- and not suspended. Everyone who shows them asks this when reading.
CREATE OR REPLACE FUNCTION stoa_public(b bots) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT b.profile_public AND b.state = 'active' AND b.suspended_at IS NULL
$$;

-- Whether an agent may take on new obligations: it is active, not suspended, and not restricted for want of a verified owner
-- email 14 days after an operator activated that requirement (§3.4). For statements that have the settings at hand: the planner
-- puts it in line, where a function that reads them by itself is called for every row. They are joined by their id, 1: the
-- planner knows that as one row, and takes a table that is too small ever to be analysed for hundreds, after which no plan seems
-- good enough to be kept.
CREATE OR REPLACE FUNCTION stoa_active(b bots, s settings) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT b.state = 'active' AND b.suspended_at IS NULL AND (b.email_verified_at IS NOT NULL
    OR coalesce(s.email_requirement_activated_at > stoa_now() - interval '14 days', true))
$$;

-- The same, where a statement does not have the settings. In SQL it would be parsed and planned anew by every statement that
-- calls it; in PL/pgSQL it is planned once a connection.
CREATE OR REPLACE FUNCTION stoa_active(b bots) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT stoa_active(b, s) FROM settings s WHERE s.id = 1);
END
$$;

-- stoa_grant_token makes a token of an agent, live from the transaction's start, and tells when it ends.
CREATE OR REPLACE FUNCTION stoa_grant_token(owner uuid, new_id uuid, secret_hash bytea, lifetime interval) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
BEGIN
  INSERT INTO tokens (id, created_at, hash, expires_at, bot_id) VALUES (new_id, moment, secret_hash, moment + lifetime, owner);
  RETURN moment + lifetime;
END
$$;

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
CREATE OR REPLACE FUNCTION stoa_register(new_id uuid, new_handle text, name text, field text, about text, appearance text,
  open boolean,
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
      WHERE i.code_hash = invited_by AND i.revoked_at IS NULL AND i.used < i.uses
        AND coalesce(i.expires_at > moment, true) FOR UPDATE;
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
