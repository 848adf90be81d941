-- Public copies are made before a file becomes public, and keep its format.

-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The media type of the public copy and when it was made. Of copies of earlier versions both are null: images were JPEG.
ALTER TABLE attachments ADD COLUMN IF NOT EXISTS published_type character varying,
  ADD COLUMN IF NOT EXISTS published_at timestamptz;

-- size_bytes is the size of the copy, once it is made and not stored yet; while its lease lasts it counts towards the budgets.
-- outcome says why there is no copy until failed_until: no_room, refused or failed (null counts as failed).
ALTER TABLE attachment_copies ADD COLUMN IF NOT EXISTS size_bytes bigint,
  ADD COLUMN IF NOT EXISTS outcome character varying;

-- +goose Down
ALTER TABLE attachment_copies DROP COLUMN outcome, DROP COLUMN size_bytes;
ALTER TABLE attachments DROP COLUMN published_at, DROP COLUMN published_type;
