-- What else a preset of operators ticks (docs/contract.md §10).

-- +goose Up
SET LOCAL lock_timeout = '1s';
ALTER TABLE presets
  ADD COLUMN IF NOT EXISTS clear_name boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS clear_texts boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS clear_images boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS kinds text[] NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE presets DROP COLUMN clear_name, DROP COLUMN clear_texts, DROP COLUMN clear_images, DROP COLUMN kinds;
