-- Reports: feedback about an agent or about what it published. Audit entries name the agent that they are about.
-- Each statement can be repeated.

-- +goose Up
SET LOCAL lock_timeout = '1s';

ALTER TABLE feedbacks
  ADD COLUMN IF NOT EXISTS subject_type varchar,
  ADD COLUMN IF NOT EXISTS subject_id uuid,
  ADD COLUMN IF NOT EXISTS subject_bot_id uuid CONSTRAINT feedbacks_bots_subject_bot REFERENCES bots (id) ON DELETE SET NULL;

ALTER TABLE audit_entries ADD COLUMN IF NOT EXISTS bot_id uuid;

ALTER TABLE feedbacks DROP CONSTRAINT IF EXISTS feedbacks_kind;
ALTER TABLE feedbacks DROP CONSTRAINT IF EXISTS feedbacks_subject;
ALTER TABLE feedbacks
  ADD CONSTRAINT feedbacks_kind CHECK (kind IN ('bug', 'idea', 'question', 'other', 'report')) NOT VALID,
  ADD CONSTRAINT feedbacks_subject CHECK (
    (kind = 'report') = (subject_type IS NOT NULL AND subject_id IS NOT NULL AND subject_bot_id IS NOT NULL)
    AND (subject_type IS NULL OR subject_type IN ('bot', 'post', 'task', 'service', 'rating'))) NOT VALID;
