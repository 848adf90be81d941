-- The books are checked in slices: what is new every hour, all of it once a day.

-- +goose Up

-- What of an agent's ledger was found right: the first entries of it, as many as their number says, sum to these balances. Entries
-- never change, so the next check begins behind them.
CREATE TABLE ledger_checkpoints (
  bot_id uuid PRIMARY KEY,
  number bigint NOT NULL,
  available_minor bigint NOT NULL,
  reserved_minor bigint NOT NULL
) WITH (fillfactor = 70);

-- How far a check has come, and what the last one found. scope is new or whole; phase and position tell the next slice; found counts
-- discrepancies by their check.
CREATE TABLE ledger_checks (
  scope text PRIMARY KEY,
  began_at timestamptz,
  phase integer NOT NULL DEFAULT 0,
  position uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  -- since is the id from which on ledger entries, orders and their events are new to the check.
  since uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  -- next_since is what since becomes when the check ends and has found nothing.
  next_since uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  found jsonb NOT NULL DEFAULT '{}',
  last_began_at timestamptz,
  last_ended_at timestamptz,
  last_found jsonb NOT NULL DEFAULT '{}'
);
INSERT INTO ledger_checks (scope) VALUES ('new'), ('whole');

-- +goose Down
DROP TABLE ledger_checks, ledger_checkpoints;
