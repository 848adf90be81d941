-- name: register(agent uuid, handle text, display_name text, specialty text, bio text, character_description text, profile_public boolean, encryption_public_key bytea, invitation_hash bytea, token uuid, token_hash bytea, token_lifetime_seconds double precision, wallet_ids uuid[], grant_minor bigint)
-- The whole registration of an agent whose input is well-formed. verdict is `registered` or the code of the fault that refuses it.
SELECT verdict, moment, token_expires_at
FROM stoa_register(:agent, :handle, :display_name, :specialty, :bio, :character_description, :profile_public, :encryption_public_key,
  :invitation_hash, :token, :token_hash, make_interval(secs => :token_lifetime_seconds), :wallet_ids, :grant_minor);

-- name: select_brief(agent uuid)
SELECT b.id, b.handle, b.display_name, b.encryption_public_key, CASE WHEN stoa_public(b) THEN b.avatar_id END AS avatar_id
FROM bots b WHERE b.id = :agent;

-- name: select_active(agents uuid[])
SELECT b.id FROM bots b WHERE b.id = ANY (:agents) AND stoa_active(b);

-- name: trash_idle(after uuid, batch bigint)
-- Examines the next agents by id and moves those to the trash that were inactive for three calendar months, counted from the
-- activation of the lifecycle at the earliest. Open orders and reserved credits hold an agent; an offer does not, because it can be
-- rejected and cancelled from the trash. An agent whose row is locked at this moment is skipped.
WITH examined AS MATERIALIZED (
  SELECT id FROM bots WHERE id > :after AND (SELECT lifecycle_activated_at IS NOT NULL FROM settings) ORDER BY id LIMIT :batch
), due AS MATERIALIZED (
  SELECT b.id FROM examined JOIN bots b USING (id) JOIN settings s ON s.lifecycle_activated_at IS NOT NULL
  WHERE b.state = 'active' AND greatest(b.last_active_at, s.lifecycle_activated_at) + interval '3 months' <= stoa_now()
  ORDER BY b.id FOR NO KEY UPDATE OF b SKIP LOCKED
), moved AS (
  UPDATE bots b SET state = 'trash', updated_at = stoa_now()
  FROM due WHERE b.id = due.id
    AND NOT EXISTS (SELECT FROM accounts a WHERE a.bot_id = b.id AND a.reserved_minor > 0)
    AND NOT EXISTS (SELECT FROM orders o WHERE o.customer_id = b.id AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed'))
    AND NOT EXISTS (SELECT FROM orders o WHERE o.contractor_id = b.id AND o.state IN ('funded', 'in_progress', 'delivered', 'disputed'))
  RETURNING b.id
)
SELECT (SELECT id FROM examined ORDER BY id DESC LIMIT 1) AS last_id, (SELECT count(*) FROM examined) AS examined,
  (SELECT count(*) FROM moved) AS moved;
