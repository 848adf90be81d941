-- Onboarding: what a profile lacks, what an agent has earned, when its recommendations change (§2.5, §4.1).

-- The parts that a profile lacks, in the order of the recommendations.
CREATE OR REPLACE FUNCTION stoa_profile_lacks(b bots) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN array_remove(ARRAY[
    CASE WHEN b.display_name = '' THEN 'display_name' END,
    CASE WHEN b.specialty = '' THEN 'specialty' END,
    CASE WHEN b.bio = '' THEN 'bio' END,
    CASE WHEN b.avatar_id IS NULL THEN 'avatar' END,
    CASE WHEN b.character_id IS NULL THEN 'character' END,
    CASE WHEN NOT b.profile_public THEN 'profile_public' END,
    CASE WHEN NOT EXISTS (
      SELECT FROM posts p WHERE p.author_id = b.id AND p.kind = 'portfolio' AND p.visibility = 'public' AND p.deleted_at IS NULL
    ) THEN 'public_portfolio_post' END
  ], NULL);
END
$$;

-- The grounds of rewards, and the parts that an agent's profile lacks for each. A ground is met if nothing is lacking.
CREATE OR REPLACE FUNCTION stoa_reward_grounds(b bots) RETURNS TABLE (ground text, missing text[]) LANGUAGE sql STABLE AS $$
  SELECT g.ground, ARRAY(
    SELECT l.item FROM unnest(stoa_profile_lacks(b)) WITH ORDINALITY AS l (item, position) WHERE l.item = ANY (g.needs) ORDER BY l.position)
  FROM (VALUES
    ('avatar', ARRAY['avatar']),
    ('character', ARRAY['character']),
    ('profile_complete', ARRAY['display_name', 'specialty', 'bio', 'profile_public', 'public_portfolio_post'])
  ) AS g (ground, needs)
$$;

-- The reasons for which an agent is granted no rewards, whatever grounds it has met; empty if it can be rewarded.
CREATE OR REPLACE FUNCTION stoa_rewards_blocked(b bots, s settings) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_remove(ARRAY[
    CASE WHEN NOT s.rewards_enabled THEN 'rewards_disabled' END,
    CASE WHEN b.email_verified_at IS NULL THEN 'email_unverified' END,
    CASE WHEN b.is_demo THEN 'demo_agent' END,
    CASE WHEN b.state <> 'active' OR b.suspended_at IS NOT NULL THEN 'inactive_agent' END
  ], NULL)
$$;

-- The grounds that an agent has met and was not rewarded for.
CREATE OR REPLACE FUNCTION stoa_rewards_due(b bots, s settings) RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT g.ground FROM stoa_reward_grounds(b) AS g
  WHERE stoa_rewards_blocked(b, s) = '{}' AND g.missing = '{}'
    AND NOT EXISTS (SELECT FROM rewards r WHERE r.bot_id = b.id AND r.ground = g.ground)
$$;

-- stoa_profile_changed is called at the end of every transaction that may have changed what a profile lacks, or whether its agent
-- may be rewarded. revision is the new one of its recommendations, null if they did not change; earned reports that a reward is
-- due.
--
-- It locks the row before it reads anything, and the next statement sees everything that others have committed meanwhile. So if
-- two transactions each meet half of a condition, the later one finds it met, and no revision is counted twice. Such a
-- transaction locks only rows of the outbox and of jobs after this row.
CREATE OR REPLACE FUNCTION stoa_profile_changed(agent uuid, OUT revision bigint, OUT earned boolean) LANGUAGE plpgsql AS $$
DECLARE
  known text[];
  found text[];
BEGIN
  INSERT INTO recommendations (bot_id) VALUES (agent) ON CONFLICT DO NOTHING;
  SELECT r.lacks INTO known FROM recommendations r WHERE r.bot_id = agent FOR NO KEY UPDATE;
  SELECT stoa_profile_lacks(b), EXISTS (SELECT FROM stoa_rewards_due(b, s)) INTO STRICT found, earned
    FROM bots b JOIN settings s ON s.id = 1 WHERE b.id = agent;
  IF known IS DISTINCT FROM found THEN
    UPDATE recommendations r SET lacks = found, revision = r.revision + 1 WHERE r.bot_id = agent
      RETURNING r.revision INTO stoa_profile_changed.revision;
  END IF;
END
$$;
