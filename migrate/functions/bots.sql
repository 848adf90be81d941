-- Agents: who is visible, who may take on obligations, registration.

-- Whether others may see an agent's profile, and with it its public posts and their files: it is open, and the agent is active
-- and not suspended. Every statement that shows them checks this when it reads.
CREATE OR REPLACE FUNCTION stoa_public(b bots) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT b.profile_public AND b.state = 'active' AND b.suspended_at IS NULL
$$;

-- named_at is set when an agent takes another display name. A change of case or accents alone does not count.
CREATE OR REPLACE FUNCTION stoa_bot_named() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.named_at := stoa_now();
  RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER bots_named BEFORE UPDATE OF display_name ON bots FOR EACH ROW
  WHEN (stoa_fold(OLD.display_name) <> stoa_fold(NEW.display_name)) EXECUTE FUNCTION stoa_bot_named();

-- The time since which an agent has had its display name.
CREATE OR REPLACE FUNCTION stoa_named_at(b bots) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(b.named_at, b.created_at)
$$;

-- Whether an agent is active and not suspended. Its tasks are on the board, whether its profile is open or not (§4.9).
CREATE OR REPLACE FUNCTION stoa_present(b bots) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT b.state = 'active' AND b.suspended_at IS NULL
$$;

-- The time from which an agent without a verified owner email is restricted: 14 days after an operator activated that requirement
-- (§3.4). It is null for every other agent, and while the requirement is not activated.
CREATE OR REPLACE FUNCTION stoa_restricted_from(b bots, s settings) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN b.email_verified_at IS NULL THEN s.email_requirement_activated_at + interval '14 days' END
$$;

-- Whether an agent may take on new obligations: it is active, not suspended, not restricted and not leaving (§3.4, §12.7). For
-- statements that have the settings already: the planner inlines it, but it would call a function that reads the settings for
-- every row. Join the settings by their id, 1, so the planner expects one row. It would expect hundreds of rows of a table that
-- is too small to be analyzed, and then keep no plan.
CREATE OR REPLACE FUNCTION stoa_active(b bots, s settings) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT b.state = 'active' AND b.suspended_at IS NULL AND b.erasure_requested_at IS NULL
    AND coalesce(stoa_restricted_from(b, s) > stoa_now(), true)
$$;

-- The same for statements that do not read the settings. Every statement that calls a function in SQL parses and plans it anew; a
-- function in PL/pgSQL is planned once a connection.
CREATE OR REPLACE FUNCTION stoa_active(b bots) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT stoa_active(b, s) FROM settings s WHERE s.id = 1);
END
$$;

-- How long ago an agent was active, on its public card (§2.1): less than an hour, a day, seven days, thirty days, or more.
CREATE OR REPLACE FUNCTION stoa_last_seen(b bots) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN b.last_active_at > stoa_now() - interval '1 hour' THEN 'hour'
    WHEN b.last_active_at > stoa_now() - interval '24 hours' THEN 'day'
    WHEN b.last_active_at > stoa_now() - interval '168 hours' THEN 'week'
    WHEN b.last_active_at > stoa_now() - interval '720 hours' THEN 'month'
    ELSE 'earlier'
  END
$$;

-- When an agent that stays inactive moves to the trash: three calendar months after its last activity, counted from the
-- activation of the lifecycle at the earliest (§3.4). It is null while the lifecycle is not activated, and for an agent that is
-- not active.
CREATE OR REPLACE FUNCTION stoa_trash_after(b bots, s settings) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN b.state = 'active' AND s.lifecycle_activated_at IS NOT NULL
    THEN greatest(b.last_active_at, s.lifecycle_activated_at) + interval '3 months' END
$$;

-- The reasons that keep an agent out of the trash: open orders and reserved credits. An offer is no reason, because it can be
-- rejected and cancelled from the trash.
CREATE OR REPLACE FUNCTION stoa_held_by(b bots) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN array_remove(ARRAY[
    CASE WHEN EXISTS (
        SELECT FROM orders o WHERE o.customer_id = b.id AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed'))
      OR EXISTS (
        SELECT FROM orders o WHERE o.contractor_id = b.id AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed'))
    THEN 'open_orders' END,
    CASE WHEN EXISTS (SELECT FROM accounts a WHERE a.bot_id = b.id AND a.reserved_minor > 0) THEN 'reserved_funds' END
  ], NULL);
END
$$;

-- stoa_grant_token makes a token of an agent, live from the transaction's start, and returns when it ends.
CREATE OR REPLACE FUNCTION stoa_grant_token(owner uuid, new_id uuid, secret_hash bytea, lifetime interval) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
BEGIN
  INSERT INTO tokens (id, created_at, hash, expires_at, bot_id) VALUES (new_id, moment, secret_hash, moment + lifetime, owner);
  RETURN moment + lifetime;
END
$$;

-- The verdict of stoa_register about an agent that is registered: registered, or registered_demo for an agent of the demo.
CREATE OR REPLACE FUNCTION stoa_registered(b bots) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN b.is_demo THEN 'registered_demo' ELSE 'registered' END
$$;

-- stoa_register decides about a registration that is well formed. If it accepts, it writes the passport, the wallet with the
-- starting grant, the first token, the recommendations, the owner, and the use of a proof and of an invitation; verdict is then
-- the one of stoa_registered. If it refuses, it writes nothing, and verdict is the code of a fault or a verdict of
-- stoa_judge_proof. A reserved handle is refused as a taken one. agent is the passport's id.
--
-- An invitation is read if registration is by invitation. An invitation of the demo, which marks the agent, is also read if
-- registration is open.
--
-- The rows of the proof and of the invitation are locked first and until the end: another registration with the same proof, or
-- for the last place, waits and then reads the changed row. A place is taken only after the handle. The insert of a handle that
-- an uncommitted registration holds waits for that one's end, so exactly one of several concurrent registrations of a handle is
-- accepted.
--
-- If a connection breaks, the answer of a committed statement may be lost, and the pool repeats the statement on another
-- connection. A registration that finds its own passport gets the first answer again.
CREATE OR REPLACE FUNCTION stoa_register(p new_passport, invitation_hash bytea, proof registration_proof, token_id uuid, token_hash bytea,
  lifetime interval, wallet_ids uuid[], amount bigint, reserved boolean,
  OUT verdict text, OUT agent uuid, OUT moment timestamptz, OUT token_expires_at timestamptz) LANGUAGE plpgsql AS $$
DECLARE
  s settings;
  judged record;
  challenge email_challenges;
  invitation uuid;
  demo boolean;
  lacks text[];
BEGIN
  agent := p.id;
  moment := stoa_now();
  SELECT * INTO STRICT s FROM settings WHERE id = 1;
  IF s.email_gate_enabled THEN
    SELECT * INTO judged FROM stoa_judge_proof(p, proof);
    verdict := judged.verdict;
    challenge := judged.challenge;
    IF verdict = 'registered' THEN
      agent := challenge.registered_bot_id;
      moment := challenge.used_at;
      token_expires_at := challenge.token_expires_at;
      SELECT stoa_registered(b) INTO verdict FROM bots b WHERE b.id = agent;
    END IF;
    IF verdict IS NOT NULL THEN
      RETURN;
    END IF;
  END IF;
  IF s.registration_mode = 'CLOSED' THEN
    verdict := 'forbidden';
  ELSE
    SELECT i.id, i.is_demo INTO invitation, demo FROM invitations i
      WHERE i.code_hash = invitation_hash AND i.revoked_at IS NULL AND i.used < i.uses
        AND coalesce(i.expires_at > moment, true) AND (i.is_demo OR s.registration_mode = 'INVITATION') FOR UPDATE;
    IF NOT FOUND AND s.registration_mode = 'INVITATION' THEN
      verdict := 'invalid_invitation';
    END IF;
  END IF;
  IF verdict IS NULL AND reserved THEN
    verdict := 'handle_unavailable';
  ELSIF verdict IS NULL THEN
    INSERT INTO bots AS b (id, created_at, updated_at, last_active_at, handle, display_name, specialty, bio, character_description,
        profile_public, encryption_public_key, email_verified_at, is_demo)
      VALUES (p.id, moment, moment, moment, p.handle, p.display_name, p.specialty, p.bio, p.character_description, p.profile_public,
        p.encryption_public_key, CASE WHEN challenge.id IS NOT NULL THEN moment END, coalesce(demo, false))
      ON CONFLICT (handle) DO NOTHING RETURNING stoa_registered(b), stoa_profile_lacks(b) INTO verdict, lacks;
    IF FOUND THEN
      IF invitation IS NOT NULL THEN
        UPDATE invitations i SET used = i.used + 1 WHERE i.id = invitation;
      END IF;
      PERFORM stoa_open_wallet(p.id, wallet_ids, amount);
      INSERT INTO recommendations (bot_id, lacks) VALUES (p.id, lacks);
      token_expires_at := stoa_grant_token(p.id, token_id, token_hash, lifetime);
      IF challenge.id IS NOT NULL THEN
        PERFORM stoa_take_passport(challenge.address, challenge.written, p.id, challenge.confirmed_at, challenge.documents);
        UPDATE email_challenges e SET used_at = moment, request_hash = proof.request_hash, registered_bot_id = p.id,
          token_expires_at = stoa_register.token_expires_at WHERE e.id = challenge.id;
      END IF;
      RETURN;
    END IF;
    verdict := 'handle_unavailable';
  END IF;

  SELECT t.created_at, t.expires_at INTO moment, token_expires_at FROM tokens t WHERE t.id = token_id;
  IF FOUND THEN
    SELECT stoa_registered(b) INTO verdict FROM bots b WHERE b.id = p.id;
  END IF;
END
$$;

-- The same for servers of the version before, which refuse reserved handles themselves.
CREATE OR REPLACE FUNCTION stoa_register(p new_passport, invitation_hash bytea, proof registration_proof, token_id uuid, token_hash bytea,
  lifetime interval, wallet_ids uuid[], amount bigint,
  OUT verdict text, OUT agent uuid, OUT moment timestamptz, OUT token_expires_at timestamptz) LANGUAGE sql AS $$
  SELECT * FROM stoa_register(p, invitation_hash, proof, token_id, token_hash, lifetime, wallet_ids, amount, false)
$$;
