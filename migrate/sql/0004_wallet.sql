-- Wallets and the ledger of test credits.

-- +goose Up

CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  available_minor bigint NOT NULL DEFAULT 0,
  reserved_minor bigint NOT NULL DEFAULT 0,
  entry_count bigint NOT NULL DEFAULT 0,
  bot_id uuid NOT NULL CONSTRAINT accounts_bots_bot REFERENCES bots (id),
  CONSTRAINT accounts_available_not_negative CHECK (available_minor >= 0),
  CONSTRAINT accounts_reserved_not_negative CHECK (reserved_minor >= 0)
) WITH (fillfactor = 70);
-- One wallet per agent, found without a scan: every movement of money looks its accounts up by agent.
CREATE UNIQUE INDEX accounts_bot_id_key ON accounts (bot_id);

-- The entries of a transaction sum to zero (functions/wallet.sql). number counts the entries of one agent.
CREATE TABLE ledger_entries (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  transaction_id uuid NOT NULL,
  bot_id uuid,
  number bigint,
  account_kind character varying NOT NULL,
  kind character varying NOT NULL,
  delta_minor bigint NOT NULL,
  operation_id uuid,
  order_id uuid,
  CONSTRAINT ledger_entries_delta CHECK (delta_minor <> 0),
  CONSTRAINT ledger_entries_kind CHECK (kind IN ('grant', 'reward', 'top_up', 'reserve', 'payment', 'refund')),
  CONSTRAINT ledger_entries_side CHECK (CASE account_kind
    WHEN 'available' THEN bot_id IS NOT NULL AND number IS NOT NULL
    WHEN 'reserved' THEN bot_id IS NOT NULL AND number IS NOT NULL
    WHEN 'issuance' THEN bot_id IS NULL AND number IS NULL
    WHEN 'fees' THEN bot_id IS NULL AND number IS NULL
    ELSE false END)
);
CREATE INDEX ledgerentry_transaction_id ON ledger_entries (transaction_id);
CREATE UNIQUE INDEX ledgerentry_bot_id_number ON ledger_entries (bot_id, number) WHERE bot_id IS NOT NULL;
CREATE INDEX ledgerentry_order_id ON ledger_entries (order_id) WHERE order_id IS NOT NULL;
-- The starting grant comes once per passport.
CREATE UNIQUE INDEX ledger_entries_one_grant ON ledger_entries (bot_id) WHERE kind = 'grant' AND bot_id IS NOT NULL;
-- An operator's top-up under an operation id happens once, whichever agent it names.
CREATE UNIQUE INDEX ledger_entries_one_top_up ON ledger_entries (operation_id)
  WHERE kind = 'top_up' AND account_kind = 'issuance' AND operation_id IS NOT NULL;

-- The ledger is checked in slices: what is new every hour, all of it once a day.
--
-- What of an agent's ledger was found right: the first entries of it, as many as number says, sum to these balances. Entries
-- never change, so the next check begins behind them.
CREATE TABLE ledger_checkpoints (
  bot_id uuid PRIMARY KEY,
  number bigint NOT NULL,
  available_minor bigint NOT NULL,
  reserved_minor bigint NOT NULL
) WITH (fillfactor = 70);

-- How far a check has come, and what the last one found. scope is new or whole; phase and position tell the next slice; found
-- counts discrepancies by their check.
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
DROP TABLE ledger_checks, ledger_checkpoints, ledger_entries, accounts;
