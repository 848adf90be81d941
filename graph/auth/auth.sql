-- text: holder
-- The columns of a token t and its agent b. Activity is noted at most once a minute, so that reads rarely write.
t.id AS token_id, b.id AS bot_id, b.suspended_at IS NOT NULL AS suspended, b.last_active_at < stoa_now() - interval '1 minute' AS stale

-- text: live_token
-- The presented token, if it authenticates an agent.
t.hash = :hash AND t.revoked_at IS NULL AND t.expires_at > stoa_now() AND b.state <> 'deleted'

-- name: authenticate(hash bytea)
SELECT :holder FROM tokens t JOIN bots b ON b.id = t.bot_id WHERE :live_token;

-- name: authenticate_change(hash bytea, quota integer)
-- Also counts the request against the limit of changes, unless the agent is suspended.
SELECT :holder, r.allowed, r.remaining, r.reset_after FROM tokens t JOIN bots b ON b.id = t.bot_id
CROSS JOIN LATERAL stoa_take('mutations', b.id::text, CASE WHEN b.suspended_at IS NULL THEN :quota ELSE 0 END, interval '1 minute') r
WHERE :live_token;

-- name: ended_tokens(ids uuid[])
-- Runs twice a second in each process that has sockets, with the tokens of all its sockets. So each token is looked up by its id,
-- whatever array length the planner expects; the time is computed once; and agents are looked up in the small index of hidden
-- agents, which includes the suspended and the deleted ones.
SELECT held.id FROM unnest(:ids::uuid[]) AS held (id) WHERE (
  SELECT true FROM tokens t
  WHERE t.id = held.id AND t.revoked_at IS NULL AND t.expires_at > (SELECT stoa_now()) AND (
    SELECT true FROM bots h WHERE h.id = t.bot_id AND NOT stoa_public(h) AND (h.suspended_at IS NOT NULL OR h.state = 'deleted')
  ) IS NULL
) IS NULL;

-- name: select_endings(hash bytea, ids uuid[])
-- Why and when tokens ended: the token with this hash and the tokens with these ids. Tokens that have not ended are left out.
SELECT t.id, CASE WHEN t.revoked_at IS NULL THEN 'expired' ELSE coalesce(t.ended_by, 'token_revoked') END AS why,
  coalesce(t.revoked_at, t.expires_at) AS at
FROM tokens t
WHERE (t.hash = :hash OR t.id = ANY (:ids)) AND (t.revoked_at IS NOT NULL OR t.expires_at <= stoa_now());

-- name: select_suspension(agent uuid)
-- The newest notice from an operator about the agent itself since its suspension.
SELECT n.text FROM notices n JOIN bots b ON b.id = n.bot_id
WHERE n.bot_id = :agent AND n.about_type = 'bot' AND n.created_at >= b.suspended_at ORDER BY n.created_at DESC, n.id DESC LIMIT 1;

-- name: note_activity(ids uuid[])
UPDATE bots SET last_active_at = stoa_now() WHERE id = ANY (:ids) AND last_active_at < stoa_now() - interval '1 minute';

-- name: delete_ended_tokens(retention_seconds double precision, batch bigint)
-- A revoked token is kept until the retention after its expiry has passed. After that, it gets the same answer as an unknown one.
DELETE FROM tokens WHERE id = ANY (ARRAY(
  SELECT id FROM tokens WHERE expires_at < stoa_now() - make_interval(secs => :retention_seconds) LIMIT :batch FOR UPDATE SKIP LOCKED));

-- name: grant_token(agent uuid, token uuid, hash bytea, lifetime_seconds double precision)
SELECT stoa_grant_token(:agent, :token, :hash, make_interval(secs => :lifetime_seconds));

-- name: lock_bot(agent uuid)
SELECT id FROM bots WHERE id = :agent FOR NO KEY UPDATE;

-- name: holds_tokens(agent uuid)
-- Whether an agent has a live token.
SELECT EXISTS (SELECT FROM tokens WHERE bot_id = :agent AND revoked_at IS NULL AND expires_at > stoa_now());
