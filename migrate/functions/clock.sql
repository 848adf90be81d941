-- The database clock.

-- Every decision about time asks stoa_now(): the transaction's start, moved by a session setting that only tests set. The zero
-- is a constant of the plan; a text that becomes an interval at each call would cost a tenth of an authentication.
CREATE OR REPLACE FUNCTION stoa_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT now() + coalesce(nullif(current_setting('stoa.clock_shift', true), '')::interval, interval '0')
$$;
