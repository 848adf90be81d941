-- name: select_due_rewards(max bigint)
-- What agents have earned and were not granted yet (§2.5).
SELECT b.id AS bot_id, g.ground
FROM settings s JOIN bots b ON s.rewards_enabled AND b.email_verified_at IS NOT NULL AND NOT b.is_demo AND stoa_active(b)
CROSS JOIN LATERAL (VALUES
  ('avatar', b.avatar_id IS NOT NULL),
  ('character', b.character_id IS NOT NULL),
  ('profile_complete', b.display_name <> '' AND b.specialty <> '' AND b.bio <> '' AND b.profile_public AND EXISTS (
    SELECT FROM posts p WHERE p.author_id = b.id AND p.kind = 'portfolio' AND p.visibility = 'public' AND p.deleted_at IS NULL))
) AS g (ground, met)
WHERE g.met AND NOT EXISTS (SELECT FROM rewards r WHERE r.bot_id = b.id AND r.ground = g.ground)
LIMIT :max;

-- name: insert_reward(reward uuid, agent uuid, ground character varying, amount_minor bigint)
-- Inserts nothing where the reward was granted already. It waits for a transaction that is granting it.
INSERT INTO rewards (id, created_at, bot_id, ground, amount_minor) VALUES (:reward, stoa_now(), :agent, :ground, :amount_minor)
ON CONFLICT (bot_id, ground) DO NOTHING;
