-- Uploads on their way into the file store, and uploads whose inspection was cut off too often.

-- +goose Up
-- What uploads that are being received take from the budgets before they have a record, one row an upload. The process that receives
-- an upload renews expires_at; a row that has expired is deleted together with the bytes under its id. A row without a file keeps
-- only its place among the uploads under way: its budget was refused, and nothing of it is stored.
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
-- +goose StatementBegin
CREATE FUNCTION stoa_count_failed_upload() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE storage_usage SET records = records + 1 WHERE agent_id IN ('00000000-0000-0000-0000-000000000000', NEW.agent_id);
  RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER failed_uploads_count_storage AFTER INSERT ON failed_uploads
  FOR EACH ROW EXECUTE FUNCTION stoa_count_failed_upload();

-- +goose Down
UPDATE storage_usage u SET records = records - f.n FROM (
  SELECT coalesce(agent_id, '00000000-0000-0000-0000-000000000000') AS agent_id, count(*) AS n FROM failed_uploads GROUP BY ROLLUP (agent_id)
) f WHERE f.agent_id = u.agent_id;
DROP TABLE failed_uploads;
DROP FUNCTION stoa_count_failed_upload();
DROP TABLE upload_reservations;
