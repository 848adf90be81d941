-- Webhooks: the time that an agent's endpoints take from the workers (§4.12).

-- The number of seconds for which endpoints of an agent have lately kept workers busy. It decreases by a twentieth of the time
-- that passes, so 3 s of every minute are free.
CREATE OR REPLACE FUNCTION stoa_used_seconds(t webhook_time) RETURNS double precision LANGUAGE sql STABLE AS $$
  SELECT greatest(t.used_seconds - greatest(extract(epoch FROM stoa_now() - t.noted_at), 0)::float8 / 20, 0)
$$;
