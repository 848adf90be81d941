-- What 0023 needs of tables that are in use. Each statement can be repeated.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE feedbacks VALIDATE CONSTRAINT feedbacks_kind;
ALTER TABLE feedbacks VALIDATE CONSTRAINT feedbacks_subject;
DROP INDEX CONCURRENTLY IF EXISTS feedback_subject_bot_id_created_at;
CREATE INDEX CONCURRENTLY feedback_subject_bot_id_created_at ON feedbacks (subject_bot_id, created_at) WHERE subject_bot_id IS NOT NULL;
-- An agent has one open report of a subject.
DROP INDEX CONCURRENTLY IF EXISTS feedbacks_open_report;
CREATE UNIQUE INDEX CONCURRENTLY feedbacks_open_report ON feedbacks (bot_id, subject_id, subject_type) WHERE kind = 'report' AND state = 'open';
DROP INDEX CONCURRENTLY IF EXISTS auditentry_bot_id_created_at;
CREATE INDEX CONCURRENTLY auditentry_bot_id_created_at ON audit_entries (bot_id, created_at) WHERE bot_id IS NOT NULL;
