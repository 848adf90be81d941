-- Files: their records, and what they take from the budgets.

-- +goose Up

CREATE TABLE attachments (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  upload_id uuid NOT NULL,
  purpose character varying NOT NULL,
  status character varying NOT NULL DEFAULT 'pending',
  rejection character varying,
  file_name character varying NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 bytea NOT NULL,
  reserved_bytes bigint NOT NULL,
  media_type character varying,
  width bigint,
  height bigint,
  pages bigint,
  preview_bytes bigint,
  preview_sha256 bytea,
  published_bytes bigint,
  published_sha256 bytea,
  bound_kind character varying,
  bound_id uuid,
  position bigint NOT NULL DEFAULT 0,
  unbound_at timestamptz,
  deleted_at timestamptz,
  attempts bigint NOT NULL DEFAULT 0,
  queued_at timestamptz NOT NULL,
  lease_id uuid,
  lease_until timestamptz,
  owner_id uuid NOT NULL CONSTRAINT attachments_bots_owner REFERENCES bots (id),
  rights_confirmed_at timestamptz,
  CONSTRAINT attachments_purpose CHECK (purpose IN ('avatar', 'character', 'portfolio', 'order')),
  CONSTRAINT attachments_status CHECK (status IN ('pending', 'ready', 'rejected')),
  CONSTRAINT attachments_ready CHECK (status <> 'ready' OR (media_type IS NOT NULL AND preview_bytes IS NOT NULL)),
  CONSTRAINT attachments_sizes CHECK (size_bytes >= 0 AND reserved_bytes >= 0),
  CONSTRAINT attachments_lease CHECK ((lease_id IS NULL) = (lease_until IS NULL)),
  CONSTRAINT attachments_binding CHECK ((bound_kind IS NULL) = (bound_id IS NULL)),
  CONSTRAINT attachments_use CHECK (bound_kind IS NULL OR CASE purpose
    WHEN 'avatar' THEN bound_kind = 'avatar'
    WHEN 'character' THEN bound_kind = 'character'
    WHEN 'portfolio' THEN bound_kind = 'post'
    ELSE bound_kind IN ('order_input', 'order_result') END)
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX attachment_owner_id_upload_id ON attachments (owner_id, upload_id);
CREATE INDEX attachment_bound_id_bound_kind_position ON attachments (bound_id, bound_kind, position) WHERE bound_id IS NOT NULL;
CREATE INDEX attachment_queued_at ON attachments (queued_at) WHERE (status)::text = 'pending'::text;
CREATE INDEX attachment_created_at ON attachments (created_at) WHERE reserved_bytes > 0;

-- What each agent's files take from its budget, and under the nil UUID what all take together: bytes, active files, and
-- records over all time. The row of the nil UUID is the lock under which budgets and inspection slots are given out, and it
-- is always taken first.
CREATE TABLE storage_usage (
  agent_id uuid PRIMARY KEY,
  bytes bigint NOT NULL CHECK (bytes >= 0),
  files bigint NOT NULL CHECK (files >= 0),
  records bigint NOT NULL CHECK (records >= 0)
) WITH (fillfactor = 50);
INSERT INTO storage_usage VALUES ('00000000-0000-0000-0000-000000000000', 0, 0, 0);

-- What uploads that are being received take from the budgets before they have a record, one row an upload. The process that
-- receives an upload renews expires_at; a row that has expired is deleted together with the bytes under its id. A row without a
-- file keeps only its place among the uploads under way: its budget was refused, and nothing of it is stored.
CREATE TABLE upload_reservations (
  id uuid PRIMARY KEY,
  agent_id uuid NOT NULL,
  bytes bigint NOT NULL CHECK (bytes >= 0),
  files integer NOT NULL CHECK (files IN (0, 1)),
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- An upload whose inspections crashed leaves no attachment, so that the same upload_id can be sent again, but it counts among the
-- upload records of its agent.
CREATE TABLE failed_uploads (
  id uuid PRIMARY KEY,
  agent_id uuid NOT NULL REFERENCES bots (id),
  failed_at timestamptz NOT NULL
);

-- The public copies that are asked for and not made yet. A file's public copy is made when someone else first asks for it; then
-- published_bytes of its record says that it is there, its bytes count towards the budgets, and the row here is gone.
CREATE TABLE attachment_copies (
  attachment_id uuid PRIMARY KEY REFERENCES attachments (id) ON DELETE CASCADE,
  queued_at timestamptz NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  lease_id uuid NULL,
  lease_until timestamptz NULL,
  -- Until when the copy is not asked for again: it could not be made, or did not fit into the budget.
  failed_until timestamptz NULL,
  CONSTRAINT attachment_copies_lease CHECK ((lease_id IS NULL) = (lease_until IS NULL))
) WITH (fillfactor = 70);

-- +goose Down
DROP TABLE attachment_copies, failed_uploads, upload_reservations, storage_usage, attachments;
