-- name: examine_rewards(after uuid, batch bigint)
-- The next agents by id, and whether a reward is due to them; none while rewards are switched off.
WITH examined AS MATERIALIZED (
  SELECT id FROM bots WHERE id > :after AND (SELECT rewards_enabled FROM settings) ORDER BY id LIMIT :batch
)
SELECT b.id, EXISTS (SELECT FROM stoa_rewards_due(b, s)) AS due
FROM examined JOIN bots b USING (id) JOIN settings s ON s.id = 1
ORDER BY b.id;

-- name: insert_due_rewards(agent uuid, ids uuid[], grounds text[], amounts bigint[])
-- Inserts the due rewards of one agent and returns the amounts; rewards that were granted already are skipped. It waits for a
-- transaction that is granting one, always in the same order.
INSERT INTO rewards (id, created_at, bot_id, ground, amount_minor)
SELECT o.id, stoa_now(), b.id, o.ground, o.amount_minor
FROM bots b JOIN settings s ON s.id = 1 CROSS JOIN LATERAL stoa_rewards_due(b, s) AS due (ground)
JOIN unnest(:ids::uuid[], :grounds::text[], :amounts::bigint[]) AS o (id, ground, amount_minor) ON o.ground = due.ground
WHERE b.id = :agent
ORDER BY o.ground
ON CONFLICT (bot_id, ground) DO NOTHING
RETURNING amount_minor;
