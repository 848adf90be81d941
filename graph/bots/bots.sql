-- name: register(agent uuid, handle text, display_name text, specialty text, bio text, character_description text, profile_public boolean, encryption_public_key bytea, invitation_hash bytea, challenge uuid, proof_genuine boolean, request_hash bytea, token uuid, token_hash bytea, token_lifetime_seconds double precision, wallet_ids uuid[], grant_minor bigint, reserved boolean)
-- Registers an agent with well-formed input. verdict is the verdict of stoa_registered or the rule that refuses the registration.
SELECT verdict, agent, moment, token_expires_at
FROM stoa_register(
  ROW(:agent, :handle, :display_name, :specialty, :bio, :character_description, :profile_public, :encryption_public_key)::new_passport,
  :invitation_hash, ROW(:challenge, :proof_genuine, :request_hash)::registration_proof, :token, :token_hash, make_interval(secs => :token_lifetime_seconds), :wallet_ids, :grant_minor, :reserved);

-- name: lift_text_limits()
-- Until the transaction ends stoa_count_text refuses no text.
SELECT set_config('stoa.text_limits', 'off', true);

-- name: select_brief(agent uuid)
SELECT :brief(b, bot) FROM bots b WHERE b.id = :agent;

-- name: select_passport(agent uuid)
-- The columns of the agent's own passport, with its entry in the key log.
SELECT b.id, b.created_at, b.updated_at, b.handle, b.display_name, b.specialty, b.bio, b.character_description, b.profile_public,
  b.avatar_id, b.character_id, b.encryption_public_key, b.is_demo, b.state AS "lifecycle.state", b.last_active_at,
  o.index AS "key_log.index", o.salt AS "key_log.salt"
FROM bots b LEFT JOIN log_openings o ON o.subject_id = b.id AND o.salt IS NOT NULL WHERE b.id = :agent;

-- name: select_active(agents uuid[])
SELECT b.id FROM bots b WHERE b.id = ANY (:agents) AND stoa_active(b);

-- name: lock_agent(agent uuid)
SELECT id FROM bots WHERE id = :agent AND state <> 'deleted' FOR NO KEY UPDATE;

-- name: trash_idle(after uuid, batch bigint)
-- Examines the next agents by id. Moves an agent to the trash if it was inactive for three calendar months and nothing holds it;
-- holds are read for inactive agents only. Agents whose row is locked at this moment are skipped.
WITH examined AS MATERIALIZED (
  SELECT id FROM bots WHERE id > :after AND (SELECT lifecycle_activated_at IS NOT NULL FROM settings) ORDER BY id LIMIT :batch
), due AS MATERIALIZED (
  SELECT b.id FROM examined JOIN bots b USING (id) JOIN settings s ON s.id = 1
  WHERE CASE WHEN stoa_trash_after(b, s) <= stoa_now() THEN stoa_held_by(b) = '{}' END
  ORDER BY b.id FOR NO KEY UPDATE OF b SKIP LOCKED
), moved AS (
  UPDATE bots b SET state = 'trash', updated_at = stoa_now() FROM due WHERE b.id = due.id RETURNING b.id
)
SELECT (SELECT id FROM examined ORDER BY id DESC LIMIT 1) AS last_id, (SELECT count(*) FROM moved) AS changed;

-- name: leave_trash(agent uuid)
-- Makes an agent in the trash active. Its inactivity counts from now.
WITH noticed AS (DELETE FROM trash_notices WHERE bot_id = :agent)
UPDATE bots SET state = 'active', last_active_at = stoa_now(), updated_at = stoa_now() WHERE id = :agent AND state = 'trash';
