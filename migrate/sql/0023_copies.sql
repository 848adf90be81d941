-- The public copies that are asked for and not made yet. A file's public copy is made when someone else first asks for it; then
-- published_bytes of its record says that it is there, its bytes count towards the budgets, and the row here is gone.

-- +goose Up
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
DROP TABLE attachment_copies;
