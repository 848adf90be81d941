-- The usage of the file budgets.

-- Triggers keep the usage equal to the sum of the records, for every program that writes them. A file is active while it takes
-- bytes.
CREATE OR REPLACE FUNCTION stoa_count_storage() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE OR REPLACE TRIGGER attachments_count_storage AFTER INSERT OR DELETE OR UPDATE OF reserved_bytes ON attachments
  FOR EACH ROW EXECUTE FUNCTION stoa_count_storage();

-- A failed upload counts among the records.
CREATE OR REPLACE FUNCTION stoa_count_failed_upload() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE storage_usage SET records = records + 1 WHERE agent_id IN ('00000000-0000-0000-0000-000000000000', NEW.agent_id);
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER failed_uploads_count_storage AFTER INSERT ON failed_uploads
  FOR EACH ROW EXECUTE FUNCTION stoa_count_failed_upload();

-- Whether others see a file while its owner's profile is shown: an image of the profile, or a file of a public post. Such a file
-- has a public copy, and a file that is not published has none for long.
CREATE OR REPLACE FUNCTION stoa_published(a attachments) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN a.bound_kind IN ('avatar', 'character') THEN true
    WHEN a.bound_kind = 'post' THEN EXISTS (
      SELECT FROM posts p WHERE p.id = a.bound_id AND p.visibility = 'public' AND p.deleted_at IS NULL)
    ELSE false END
$$;
