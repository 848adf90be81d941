-- Places on the event channel (§6).

-- stoa_open_socket leases a place. verdict is taken; full if the agent or the server is at its limit (0 means no limit); or lost
-- if the process has lost its lock. While the server is full, an agent without a place takes the place of the youngest connection
-- of an agent with several; the process that holds it is notified and closes it. One lease is given at a time, by a lock that
-- ends with the transaction.
CREATE OR REPLACE FUNCTION stoa_open_socket(lease uuid, holder integer, bot uuid, token uuid, per_agent integer, total integer,
  OUT verdict text) LANGUAGE plpgsql AS $$
DECLARE
  live integer[];
  held bigint;
  victim socket_leases;
BEGIN
  PERFORM pg_advisory_xact_lock(7061006);
  live := ARRAY(SELECT process FROM socket_live_processes);
  IF NOT holder = ANY (live) THEN
    verdict := 'lost';
    RETURN;
  END IF;
  SELECT count(*) INTO held FROM socket_leases l WHERE l.bot_id = bot AND l.process = ANY (live);
  verdict := CASE WHEN per_agent > 0 AND per_agent <= held THEN 'full' ELSE 'taken' END;
  IF verdict = 'taken' AND total > 0
    AND total <= (SELECT coalesce(sum(p.open), 0) FROM socket_processes p WHERE p.process = ANY (live)) THEN
    SELECT l.* INTO victim FROM socket_leases l
    WHERE held = 0 AND l.process = ANY (live)
      AND EXISTS (SELECT FROM socket_leases o WHERE o.bot_id = l.bot_id AND o.id <> l.id AND o.process = ANY (live))
    ORDER BY l.opened_at DESC, l.id DESC LIMIT 1;
    IF victim.id IS NULL THEN
      verdict := 'full';
    ELSE
      PERFORM stoa_close_sockets(ARRAY[victim.id]);
      PERFORM pg_notify('stoa_sockets', format('0 displace %s %s', victim.process, victim.id));
    END IF;
  END IF;
  IF verdict = 'taken' THEN
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

-- stoa_close_sockets releases leases. It ignores a lease that is released already.
CREATE OR REPLACE FUNCTION stoa_close_sockets(leases uuid[]) RETURNS void LANGUAGE sql AS $$
  WITH gone AS (DELETE FROM socket_leases WHERE id = ANY (leases) RETURNING process)
  UPDATE socket_processes p SET open = p.open - g.leases
  FROM (SELECT process, count(*) AS leases FROM gone GROUP BY process) g WHERE p.process = g.process
$$;

-- stoa_drop_dead_sockets deletes the leases of processes that have ended.
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
