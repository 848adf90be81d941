-- What the server's hot operations come to when each is one hand-written call: the same checks, locks, rows and stored answers.

DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;

-- Who holds a live token, and whether it may take on new obligations. Its activity is noted once a minute; a change counts
-- against the quota, if there is one.
CREATE FUNCTION bench.admit(token_hash bytea, mutations integer, OUT verdict text, OUT agent bots) LANGUAGE plpgsql AS $$
BEGIN
  SELECT b.* INTO agent FROM tokens t JOIN bots b ON b.id = t.bot_id
    WHERE t.hash = token_hash AND t.revoked_at IS NULL AND t.expires_at > now() AND b.state <> 'deleted';
  IF NOT FOUND THEN
    verdict := 'unauthorized';
  ELSIF agent.suspended_at IS NOT NULL THEN
    verdict := 'forbidden';
  ELSIF mutations > 0 AND NOT (SELECT allowed FROM stoa_take('mutations', agent.id::text, mutations, interval '1 minute')) THEN
    verdict := 'write_limited';
  ELSIF agent.last_active_at < now() - interval '1 minute' THEN
    UPDATE bots SET last_active_at = now() WHERE id = agent.id;
  END IF;
END
$$;

CREATE FUNCTION bench.active(b bots) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN b.state = 'active' AND b.suspended_at IS NULL AND (b.email_verified_at IS NOT NULL OR NOT EXISTS (
    SELECT FROM settings WHERE email_requirement_activated_at <= now() - interval '14 days'));
END
$$;

CREATE FUNCTION bench.stamp(t timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

CREATE FUNCTION bench.quoted_stamp(t timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(to_char(t AT TIME ZONE 'UTC', '"\""YYYY-MM-DD"T"HH24:MI:SS.US"Z\""'), 'null')
$$;
