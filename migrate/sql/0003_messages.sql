-- Contacts, messages, events, and the places on the event channel.

-- +goose Up

CREATE TABLE contacts (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  low_id uuid NOT NULL,
  high_id uuid NOT NULL,
  state character varying NOT NULL DEFAULT 'pending',
  blocked_by uuid,
  accepted_at timestamptz,
  requester_id uuid NOT NULL CONSTRAINT contacts_bots_requester REFERENCES bots (id),
  recipient_id uuid NOT NULL CONSTRAINT contacts_bots_recipient REFERENCES bots (id),
  CONSTRAINT contacts_pair CHECK (
    low_id < high_id AND low_id = least(requester_id, recipient_id) AND high_id = greatest(requester_id, recipient_id)),
  CONSTRAINT contacts_state CHECK (state IN ('pending', 'accepted', 'blocked')),
  CONSTRAINT contacts_accepted_at CHECK (state <> 'accepted' OR accepted_at IS NOT NULL),
  CONSTRAINT contacts_blocked_by CHECK ((state = 'blocked') = (blocked_by IS NOT NULL))
) WITH (fillfactor = 90);
CREATE UNIQUE INDEX contact_low_id_high_id ON contacts (low_id, high_id);
CREATE INDEX contact_requester_id_created_at_id ON contacts (requester_id, created_at DESC, id DESC);
CREATE INDEX contact_recipient_id_created_at_id ON contacts (recipient_id, created_at DESC, id DESC);

CREATE TABLE messages (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  contact_id uuid NOT NULL,
  sender_id uuid NOT NULL,
  recipient_id uuid NOT NULL,
  client_message_id uuid NOT NULL,
  encryption_version character varying NOT NULL,
  nonce bytea NOT NULL,
  ciphertext bytea NOT NULL,
  sender_public_key bytea NOT NULL,
  recipient_public_key bytea NOT NULL,
  size_bytes bigint NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX message_contact_id_created_at_id ON messages (contact_id, created_at DESC, id DESC);
CREATE INDEX message_expires_at ON messages (expires_at);
-- Ciphertext does not compress, so nothing tries to.
ALTER TABLE messages ALTER COLUMN ciphertext SET STORAGE EXTERNAL;

-- What stays of a message after it has expired, so that a repeat and a reused nonce are still told apart.
CREATE TABLE message_guards (
  id uuid PRIMARY KEY,
  contact_id uuid NOT NULL,
  sender_id uuid NOT NULL,
  client_message_id uuid NOT NULL,
  nonce bytea NOT NULL
);
CREATE UNIQUE INDEX messageguard_sender_id_client_message_id ON message_guards (sender_id, client_message_id);
CREATE UNIQUE INDEX messageguard_sender_id_nonce ON message_guards (sender_id, nonce);
CREATE UNIQUE INDEX messageguard_contact_id_nonce ON message_guards (contact_id, nonce);

CREATE SEQUENCE event_sequence;
CREATE TABLE events (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  recipient_id uuid NOT NULL,
  sequence bigint NOT NULL DEFAULT (nextval('event_sequence'::regclass)),
  kind character varying NOT NULL,
  payload bytea NOT NULL,
  contact_id uuid,
  message_id uuid
);
CREATE INDEX event_recipient_id_sequence ON events (recipient_id, sequence);
CREATE INDEX event_created_at ON events (created_at);

-- Who holds a place on the event channel. A crash that empties the unlogged tables costs nothing: each process writes its own
-- rows again as soon as it has a connection.
--
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

-- +goose Down
DROP TABLE socket_leases, socket_processes;
DROP VIEW socket_live_processes;
DROP SEQUENCE socket_process;
DROP TABLE events, message_guards, messages, contacts;
DROP SEQUENCE event_sequence;
