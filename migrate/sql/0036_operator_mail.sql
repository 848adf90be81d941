-- Mails that operators write to owners (docs/contract.md §10), and proofs of the keys that sign receipts (§12.5).

-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = '1s';

-- The text of a mail that an operator has written, until the mail has ended (null then). Its hash stays with the mail: a repeat of the
-- operation is compared with it.
CREATE TABLE IF NOT EXISTS mail_texts (
  mail_id uuid PRIMARY KEY CONSTRAINT mail_texts_mails_mail REFERENCES mails (id) ON DELETE CASCADE,
  text text,
  sha256 bytea NOT NULL
);

ALTER TABLE mails DROP CONSTRAINT IF EXISTS mails_kind, ADD CONSTRAINT mails_kind CHECK (kind IN ('test', 'registration_code', 'link_code',
  'registration_refused', 'restore_link', 'trash_notice', 'export_link', 'erase_link', 'erasure_notice', 'operator_mail')) NOT VALID;
ALTER TABLE mails VALIDATE CONSTRAINT mails_kind;
RESET lock_timeout;

-- Where the keys of the server stand in the present log, so that the key set of receipts has their proofs. The subject is the beginning
-- of the entry's hash.
INSERT INTO log_openings (subject_id, index)
SELECT encode(substring(sha256(l.entry) FOR 16), 'hex')::uuid, l.index
FROM log_leaves l JOIN log_head h ON h.epoch = l.epoch AND h.ended_at IS NULL
WHERE get_byte(l.entry, 0) = 2
ON CONFLICT (subject_id) DO NOTHING;

-- +goose Down
DROP TABLE IF EXISTS mail_texts;
DELETE FROM mails WHERE kind = 'operator_mail';
ALTER TABLE mails DROP CONSTRAINT IF EXISTS mails_kind, ADD CONSTRAINT mails_kind CHECK (kind IN ('test', 'registration_code', 'link_code',
  'registration_refused', 'restore_link', 'trash_notice', 'export_link', 'erase_link', 'erasure_notice')) NOT VALID;
