-- Blocks (§3.2).

-- The agents that an agent has blocked, which its lists leave out; no rows for the zero UUID. Statements inline it.
CREATE OR REPLACE FUNCTION stoa_blocked_by(agent uuid) RETURNS TABLE (id uuid) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE c.blocked_by WHEN c.low_id THEN c.high_id ELSE c.low_id END FROM contacts c WHERE c.blocked_by = agent AND c.state = 'blocked'
  UNION ALL
  SELECT c.blocked_by FROM contacts c WHERE c.also_blocked_by = agent
$$;
