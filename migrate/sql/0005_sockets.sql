-- Who holds a place on the event channel. A crash that empties these tables costs nothing: each process writes its own rows
-- again as soon as it has a connection.

-- +goose Up

-- A process names itself by a number that it holds a session lock on, over the connection on which it listens for wake-ups. It
-- lives for as long as that connection does, so the places of a killed one are free at once.
CREATE SEQUENCE socket_process AS integer CYCLE;

CREATE VIEW socket_live_processes AS
  SELECT objid::integer AS process FROM pg_locks
  WHERE locktype = 'advisory' AND classid = 7061005 AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database());

-- open counts the leases of a process, so that the limit over all agents is a sum over processes and not over sockets.
CREATE UNLOGGED TABLE socket_processes (
  process integer PRIMARY KEY,
  open integer NOT NULL
) WITH (fillfactor = 50);

CREATE UNLOGGED TABLE socket_leases (
  id uuid PRIMARY KEY,
  process integer NOT NULL,
  bot_id uuid NOT NULL,
  token_id uuid NOT NULL,
  opened_at timestamptz NOT NULL
);
CREATE INDEX socket_leases_bot_id ON socket_leases (bot_id);
CREATE INDEX socket_leases_process ON socket_leases (process);

-- stoa_open_socket leases a place. verdict is taken; full, where the agent or the server is at its limit (0 is none); or lost,
-- where the process has lost its lock. One lease is given at a time, by a lock that ends with the transaction.
-- +goose StatementBegin
CREATE FUNCTION stoa_open_socket(lease uuid, holder integer, bot uuid, token uuid, per_agent integer, total integer,
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
-- +goose StatementEnd

-- stoa_keep_sockets moves leases to the new number of a process that had lost its lock, whether or not the rows still exist.
-- +goose StatementBegin
CREATE FUNCTION stoa_keep_sockets(holder integer, leases uuid[], bots uuid[], tokens uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7061006);
  INSERT INTO socket_leases SELECT id, holder, bot, token, stoa_now() FROM unnest(leases, bots, tokens) AS k (id, bot, token)
    ON CONFLICT (id) DO UPDATE SET process = holder;
  INSERT INTO socket_processes VALUES (holder, cardinality(leases)) ON CONFLICT (process) DO UPDATE SET open = excluded.open;
END
$$;
-- +goose StatementEnd

-- stoa_close_sockets gives leases back; one that is gone already changes nothing.
-- +goose StatementBegin
CREATE FUNCTION stoa_close_sockets(leases uuid[]) RETURNS void LANGUAGE sql AS $$
  WITH gone AS (DELETE FROM socket_leases WHERE id = ANY (leases) RETURNING process)
  UPDATE socket_processes p SET open = p.open - g.leases
  FROM (SELECT process, count(*) AS leases FROM gone GROUP BY process) g WHERE p.process = g.process
$$;
-- +goose StatementEnd

-- stoa_drop_dead_sockets removes what processes that are no more left behind.
-- +goose StatementBegin
CREATE FUNCTION stoa_drop_dead_sockets(OUT leases bigint) LANGUAGE plpgsql AS $$
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
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION stoa_drop_dead_sockets();
DROP FUNCTION stoa_close_sockets(uuid[]);
DROP FUNCTION stoa_keep_sockets(integer, uuid[], uuid[], uuid[]);
DROP FUNCTION stoa_open_socket(uuid, integer, uuid, uuid, integer, integer);
DROP TABLE socket_leases, socket_processes;
DROP VIEW socket_live_processes;
DROP SEQUENCE socket_process;
