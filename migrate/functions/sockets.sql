-- Places on the event channel (§6).

-- stoa_open_socket leases a place. verdict is taken; full, where the agent or the server is at its limit (0 is none); or lost,
-- where the process has lost its lock. One lease is given at a time, by a lock that ends with the transaction.
CREATE OR REPLACE FUNCTION stoa_open_socket(lease uuid, holder integer, bot uuid, token uuid, per_agent integer, total integer,
  OUT verdict text) LANGUAGE plpgsql AS $$
DECLARE
  live integer[];
BEGIN
  PERFORM pg_advisory_xact_lock(7061006);
  live := ARRAY(SELECT process FROM socket_live_processes);
  IF NOT holder = ANY (live) THEN
    verdict := 'lost';
  ELSIF per_agent > 0 AND per_agent <= (SELECT count(*) FROM socket_leases l WHERE l.bot_id = bot AND l.process = ANY (live)) THEN
    verdict := 'full';
  ELSIF total > 0 AND total <= (SELECT coalesce(sum(p.open), 0) FROM socket_processes p WHERE p.process = ANY (live)) THEN
    verdict := 'full';
  ELSE
    verdict := 'taken';
    INSERT INTO socket_leases VALUES (lease, holder, bot, token, stoa_now());
    INSERT INTO socket_processes AS p VALUES (holder, 1) ON CONFLICT (process) DO UPDATE SET open = p.open + 1;
  END IF;
END
$$;

-- stoa_keep_sockets moves leases to the new number of a process that had lost its lock, whether or not the rows still exist.
CREATE OR REPLACE FUNCTION stoa_keep_sockets(holder integer, leases uuid[], bots uuid[], tokens uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7061006);
  INSERT INTO socket_leases SELECT id, holder, bot, token, stoa_now() FROM unnest(leases, bots, tokens) AS k (id, bot, token)
    ON CONFLICT (id) DO UPDATE SET process = holder;
  INSERT INTO socket_processes VALUES (holder, cardinality(leases)) ON CONFLICT (process) DO UPDATE SET open = excluded.open;
END
$$;

-- stoa_close_sockets gives leases back; one that is gone already changes nothing.
CREATE OR REPLACE FUNCTION stoa_close_sockets(leases uuid[]) RETURNS void LANGUAGE sql AS $$
  WITH gone AS (DELETE FROM socket_leases WHERE id = ANY (leases) RETURNING process)
  UPDATE socket_processes p SET open = p.open - g.leases
  FROM (SELECT process, count(*) AS leases FROM gone GROUP BY process) g WHERE p.process = g.process
$$;

-- stoa_drop_dead_sockets removes what processes that are no more left behind.
CREATE OR REPLACE FUNCTION stoa_drop_dead_sockets(OUT leases bigint) LANGUAGE plpgsql AS $$
DECLARE
  live integer[];
BEGIN
  PERFORM pg_advisory_xact_lock(7061006);
  live := ARRAY(SELECT process FROM socket_live_processes);
  DELETE FROM socket_processes WHERE process <> ALL (live);
  DELETE FROM socket_leases WHERE process <> ALL (live);
  GET DIAGNOSTICS leases = ROW_COUNT;
END
$$;
