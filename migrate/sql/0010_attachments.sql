-- Files: their records, what they take from the budgets, and the images of a profile.

-- +goose Up
ALTER TABLE "bots" ADD COLUMN "avatar_id" uuid NULL, ADD COLUMN "character_id" uuid NULL;
CREATE TABLE "attachments" ("id" uuid NOT NULL, "created_at" timestamptz NOT NULL, "upload_id" uuid NOT NULL, "purpose" character varying NOT NULL, "status" character varying NOT NULL DEFAULT 'pending', "rejection" character varying NULL, "file_name" character varying NOT NULL, "size_bytes" bigint NOT NULL, "sha256" bytea NOT NULL, "reserved_bytes" bigint NOT NULL, "media_type" character varying NULL, "width" bigint NULL, "height" bigint NULL, "pages" bigint NULL, "preview_bytes" bigint NULL, "preview_sha256" bytea NULL, "published_bytes" bigint NULL, "published_sha256" bytea NULL, "bound_kind" character varying NULL, "bound_id" uuid NULL, "position" bigint NOT NULL DEFAULT 0, "unbound_at" timestamptz NULL, "deleted_at" timestamptz NULL, "attempts" bigint NOT NULL DEFAULT 0, "queued_at" timestamptz NOT NULL, "lease_id" uuid NULL, "lease_until" timestamptz NULL, "owner_id" uuid NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "attachments_bots_owner" FOREIGN KEY ("owner_id") REFERENCES "bots" ("id") ON DELETE NO ACTION);
CREATE UNIQUE INDEX "attachment_owner_id_upload_id" ON "attachments" ("owner_id", "upload_id");
CREATE INDEX "attachment_bound_id_bound_kind_position" ON "attachments" ("bound_id", "bound_kind", "position") WHERE bound_id IS NOT NULL;
CREATE INDEX "attachment_queued_at" ON "attachments" ("queued_at") WHERE (status)::text = 'pending'::text;
CREATE INDEX "attachment_created_at" ON "attachments" ("created_at") WHERE reserved_bytes > 0;
ALTER TABLE attachments
  ADD CONSTRAINT attachments_purpose CHECK (purpose IN ('avatar', 'character', 'portfolio', 'order')),
  ADD CONSTRAINT attachments_status CHECK (status IN ('pending', 'ready', 'rejected')),
  ADD CONSTRAINT attachments_ready CHECK (status <> 'ready' OR (media_type IS NOT NULL AND preview_bytes IS NOT NULL)),
  ADD CONSTRAINT attachments_sizes CHECK (size_bytes >= 0 AND reserved_bytes >= 0),
  ADD CONSTRAINT attachments_lease CHECK ((lease_id IS NULL) = (lease_until IS NULL)),
  ADD CONSTRAINT attachments_binding CHECK ((bound_kind IS NULL) = (bound_id IS NULL)),
  ADD CONSTRAINT attachments_use CHECK (bound_kind IS NULL OR CASE purpose
    WHEN 'avatar' THEN bound_kind = 'avatar'
    WHEN 'character' THEN bound_kind = 'character'
    WHEN 'portfolio' THEN bound_kind = 'post'
    ELSE bound_kind IN ('order_input', 'order_result') END);
ALTER TABLE attachments SET (fillfactor = 85);

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

-- Usage follows the records, whoever writes them. A file is active while it takes bytes.
-- +goose StatementBegin
CREATE FUNCTION stoa_count_storage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  everyone CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  before attachments;
  after attachments;
  more_bytes bigint;
  more_files integer;
  more_records integer;
  subject uuid;
BEGIN
  IF TG_OP <> 'INSERT' THEN before := OLD; END IF;
  IF TG_OP <> 'DELETE' THEN after := NEW; END IF;
  more_bytes := coalesce(after.reserved_bytes, 0) - coalesce(before.reserved_bytes, 0);
  more_files := (coalesce(after.reserved_bytes, 0) > 0)::int - (coalesce(before.reserved_bytes, 0) > 0)::int;
  more_records := (TG_OP = 'INSERT')::int - (TG_OP = 'DELETE')::int;
  FOREACH subject IN ARRAY ARRAY[everyone, coalesce(after.owner_id, before.owner_id)] LOOP
    INSERT INTO storage_usage VALUES (subject, 0, 0, 0) ON CONFLICT DO NOTHING;
    UPDATE storage_usage SET bytes = bytes + more_bytes, files = files + more_files, records = records + more_records
      WHERE agent_id = subject;
  END LOOP;
  RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER attachments_count_storage AFTER INSERT OR DELETE OR UPDATE OF reserved_bytes ON attachments
  FOR EACH ROW EXECUTE FUNCTION stoa_count_storage();

-- +goose Down
DROP TABLE attachments;
DROP FUNCTION stoa_count_storage();
DROP TABLE storage_usage;
ALTER TABLE bots DROP COLUMN avatar_id, DROP COLUMN character_id;
