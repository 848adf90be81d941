-- Owners: the email addresses that hold passports, the challenges that verify them, restores of access, and the trash.

-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Every address that ever held a passport, in its normal form. passports only grows: deletion frees no place.
CREATE TABLE owner_emails (
  address text PRIMARY KEY,
  created_at timestamptz NOT NULL,
  passports integer NOT NULL DEFAULT 0,
  CONSTRAINT owner_emails_passports CHECK (passports BETWEEN 0 AND 3)
);

-- The owner of an agent, once the address was verified, and the documents that the owner confirmed: their ids, versions and hashes.
CREATE TABLE bot_owners (
  bot_id uuid PRIMARY KEY CONSTRAINT bot_owners_bots_bot REFERENCES bots (id),
  address text NOT NULL CONSTRAINT bot_owners_owner_emails_owner REFERENCES owner_emails (address),
  verified_at timestamptz NOT NULL,
  confirmed_at timestamptz NOT NULL,
  documents jsonb NOT NULL
);

-- A code and a link that were mailed to an address. For a registration the handle and the key are what its proof is bound to; for a
-- link it is the agent. The code, the link and the proof are derived from the id and the installation's key.
CREATE TABLE email_challenges (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  address text NOT NULL,
  handle text,
  encryption_public_key bytea,
  bot_id uuid CONSTRAINT email_challenges_bots_bot REFERENCES bots (id),
  -- False where no code was mailed, because the address holds its passports or was asked too often: then no code is right.
  mailed boolean NOT NULL,
  expires_at timestamptz NOT NULL,
  wrong_codes integer NOT NULL DEFAULT 0,
  replaced_at timestamptz,
  confirmed_at timestamptz,
  documents jsonb,
  verified_at timestamptz,
  proof_expires_at timestamptz,
  -- What the registration that used the proof was asked and answered.
  used_at timestamptz,
  request_hash bytea,
  registered_bot_id uuid,
  token_expires_at timestamptz,
  CONSTRAINT email_challenges_purpose CHECK (CASE WHEN bot_id IS NULL
    THEN num_nulls(handle, encryption_public_key) = 0 ELSE num_nonnulls(handle, encryption_public_key) = 0 END),
  CONSTRAINT email_challenges_wrong_codes CHECK (wrong_codes BETWEEN 0 AND 5),
  CONSTRAINT email_challenges_confirmed CHECK ((confirmed_at IS NULL) = (documents IS NULL)),
  CONSTRAINT email_challenges_verified CHECK (verified_at IS NULL OR confirmed_at IS NOT NULL),
  CONSTRAINT email_challenges_used CHECK (num_nulls(used_at, request_hash, registered_bot_id, token_expires_at) IN (0, 4))
);
CREATE INDEX email_challenge_address ON email_challenges (address, created_at);
CREATE INDEX email_challenge_bot ON email_challenges (bot_id) WHERE bot_id IS NOT NULL;
CREATE INDEX email_challenge_created_at ON email_challenges (created_at);

-- Requests to restore access. bot_id is set once a request is found to be right, which its answer does not tell.
CREATE TABLE restores (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  handle text NOT NULL,
  address text NOT NULL,
  bot_id uuid CONSTRAINT restores_bots_bot REFERENCES bots (id),
  replaced_at timestamptz,
  confirmed_at timestamptz,
  token_expires_at timestamptz,
  CONSTRAINT restores_confirmed CHECK ((confirmed_at IS NULL) = (token_expires_at IS NULL))
);
CREATE INDEX restore_bot ON restores (bot_id, created_at) WHERE bot_id IS NOT NULL;
CREATE INDEX restore_created_at ON restores (created_at);

-- The notice of an agent in the trash, gone when it leaves the trash. sent_at is when the mail server accepted it.
CREATE TABLE trash_notices (
  bot_id uuid PRIMARY KEY CONSTRAINT trash_notices_bots_bot REFERENCES bots (id),
  created_at timestamptz NOT NULL,
  mail_id uuid NOT NULL,
  sent_at timestamptz
);

-- A deleted agent keeps no key.
ALTER TABLE bots ALTER encryption_public_key DROP NOT NULL,
  ADD CONSTRAINT bots_key CHECK (encryption_public_key IS NOT NULL OR state = 'deleted') NOT VALID;

-- The proof of a verified address that a registration brings. genuine: its token is that of the challenge. request_hash is of
-- everything else in the request.
CREATE TYPE registration_proof AS (challenge_id uuid, genuine boolean, request_hash bytea);

-- +goose Down
DROP TYPE registration_proof CASCADE;
ALTER TABLE bots DROP CONSTRAINT bots_key, ALTER encryption_public_key SET NOT NULL;
DROP TABLE trash_notices, restores, email_challenges, bot_owners, owner_emails;
