-- The counts of the operators' overview.

-- The least id of version 7 that is made at a time. Ids are made by servers, whose clocks may differ from the database's.
CREATE OR REPLACE FUNCTION stoa_id_at(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

-- The counts of each minute from begins until ends, without empty minutes: registered agents, new messages and orders, and the
-- pay of contractors. It reads the ids from five minutes before begins, in the primary keys.
CREATE OR REPLACE FUNCTION stoa_activity(begins timestamptz, ends timestamptz)
RETURNS TABLE (at timestamptz, agents bigint, messages bigint, orders bigint, credits_minor bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
  least uuid := stoa_id_at(begins - interval '5 minutes');
  most uuid := stoa_id_at(ends + interval '5 minutes');
BEGIN
  RETURN QUERY
  SELECT date_trunc('minute', happened.created_at), sum(happened.agent)::bigint, sum(happened.message)::bigint, sum(happened.placed)::bigint,
    sum(happened.paid)::bigint
  FROM (
    SELECT b.created_at, 1 AS agent, 0 AS message, 0 AS placed, 0::bigint AS paid FROM bots b
    WHERE b.created_at >= begins AND b.created_at < ends
    UNION ALL
    SELECT m.created_at, 0, 1, 0, 0 FROM messages m WHERE m.id >= least AND m.id < most
    UNION ALL
    SELECT o.created_at, 0, 0, 1, 0 FROM orders o WHERE o.id >= least AND o.id < most
    UNION ALL
    SELECT l.created_at, 0, 0, 0, l.delta_minor FROM ledger_entries l
    WHERE l.id >= least AND l.id < most AND l.kind = 'payment' AND l.account_kind = 'available' AND l.delta_minor > 0
  ) AS happened
  WHERE happened.created_at >= begins AND happened.created_at < ends
  GROUP BY 1;
END
$$;
