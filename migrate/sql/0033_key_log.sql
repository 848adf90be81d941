-- The key log: a Merkle tree of the keys of agents, the keys of the server and the receipts (docs/contract.md §12.2).
--
-- Each statement can be repeated. The trigger comes before the agents that exist, so none is left out that registers meanwhile; a
-- server of the version before registers agents, too.

-- +goose NO TRANSACTION
-- +goose Up

-- What waits to be appended, in no binding order. A subject is the agent or the receipt that an entry is about. An agent's entry is
-- made when it is appended, because only then its salt is; it waits without label, commitment and salt.
CREATE TABLE IF NOT EXISTS log_queue (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  type smallint NOT NULL,
  label bytea,
  commitment bytea,
  subject_id uuid,
  salt bytea,
  CONSTRAINT log_queue_complete CHECK (CASE WHEN type = 1 THEN subject_id IS NOT NULL
    ELSE octet_length(label) = 32 AND octet_length(commitment) = 32 AND label IS NOT NULL AND commitment IS NOT NULL END)
);

-- Where the entry of a subject stands in the present epoch, and the salt that opens its commitment; null once it is erased.
CREATE TABLE IF NOT EXISTS log_openings (
  subject_id uuid PRIMARY KEY,
  index bigint NOT NULL,
  salt bytea
);

-- The heads of the log by epoch. The present one has not ended, and its row is locked by what appends to it. A head's size and root
-- are of the rows of log_leaves that were committed with it.
CREATE TABLE IF NOT EXISTS log_head (
  epoch integer PRIMARY KEY,
  origin text NOT NULL,
  size bigint NOT NULL,
  root bytea NOT NULL,
  began_at timestamptz NOT NULL,
  ended_at timestamptz,
  reason text
);
-- +goose StatementBegin
DO $$
BEGIN
  IF to_regclass('log_head_present') IS NULL THEN
    CREATE UNIQUE INDEX log_head_present ON log_head ((ended_at IS NULL)) WHERE ended_at IS NULL;
  END IF;
END
$$;
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS log_leaves (
  epoch integer NOT NULL,
  index bigint NOT NULL,
  entry bytea NOT NULL CHECK (octet_length(entry) = 65),
  PRIMARY KEY (epoch, index)
);

-- The roots of full subtrees: that of level 1 and number n is over the leaves from 256 n on, that of level 2 over 256 of level 1.
CREATE TABLE IF NOT EXISTS log_roots (
  epoch integer NOT NULL,
  level smallint NOT NULL,
  n bigint NOT NULL,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (epoch, level, n)
);

-- The lines by which witnesses sign the head of a size. A line is that of a signed note, without its end.
CREATE TABLE IF NOT EXISTS log_cosignatures (
  epoch integer NOT NULL,
  size bigint NOT NULL,
  witness text NOT NULL,
  line text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (epoch, size, witness)
);

-- The keys that sign the log's checkpoints (purpose log) and receipts (purpose receipts), by number from 1. They are derived from the
-- installation's key; the present one has not retired.
CREATE TABLE IF NOT EXISTS signing_keys (
  purpose text NOT NULL CHECK (purpose IN ('log', 'receipts')),
  number integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  retired_at timestamptz,
  PRIMARY KEY (purpose, number)
);
INSERT INTO signing_keys (purpose, number) VALUES ('log', 1), ('receipts', 1) ON CONFLICT DO NOTHING;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_queue_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO log_queue (type, subject_id) VALUES (1, NEW.id);
  RETURN NULL;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  PERFORM set_config('lock_timeout', '1s', true);
  CREATE OR REPLACE TRIGGER bots_key_log AFTER INSERT ON bots FOR EACH ROW EXECUTE FUNCTION stoa_queue_agent();
END
$$;
-- +goose StatementEnd

INSERT INTO log_queue (type, subject_id)
SELECT 1, b.id FROM bots b
WHERE NOT EXISTS (SELECT FROM log_queue q WHERE q.subject_id = b.id) AND NOT EXISTS (SELECT FROM log_openings o WHERE o.subject_id = b.id)
ORDER BY b.created_at, b.id;

-- +goose Down
DROP TRIGGER bots_key_log ON bots;
DROP FUNCTION stoa_queue_agent();
DROP TABLE signing_keys;
DROP TABLE log_cosignatures;
DROP TABLE log_roots;
DROP TABLE log_leaves;
DROP TABLE log_head;
DROP TABLE log_openings;
DROP TABLE log_queue;
