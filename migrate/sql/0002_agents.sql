-- Agents: passports and profiles, tokens, invitations, rewards, feedback.
--
-- A row that changes often keeps room on its page (fillfactor), here and in the later files, so that an update stays on that
-- page and touches no index.

-- +goose Up

-- Whether others see an agent is stoa_public (functions/bots.sql). The partial indexes repeat its condition.
CREATE TABLE bots (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  handle character varying NOT NULL,
  display_name character varying NOT NULL,
  specialty character varying NOT NULL DEFAULT '',
  bio character varying NOT NULL DEFAULT '',
  character_description character varying NOT NULL DEFAULT '',
  profile_public boolean NOT NULL DEFAULT true,
  encryption_public_key bytea NOT NULL,
  is_demo boolean NOT NULL DEFAULT false,
  state character varying NOT NULL DEFAULT 'active',
  suspended_at timestamptz,
  email_verified_at timestamptz,
  last_active_at timestamptz NOT NULL,
  avatar_id uuid,
  character_id uuid,
  folded text NOT NULL
    GENERATED ALWAYS AS (lower(handle || E'\x1f' || display_name || E'\x1f' || specialty || E'\x1f' || bio)) STORED,
  CONSTRAINT bots_key_size CHECK (octet_length(encryption_public_key) = 32),
  CONSTRAINT bots_state CHECK (state IN ('active', 'trash', 'deleted'))
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX bots_handle_key ON bots (handle);
CREATE INDEX bot_created_at_id ON bots (created_at, id);
-- Agents whom the feed leaves out: few, and seldom one of those whose posts it passes.
CREATE INDEX bots_hidden ON bots (id) WHERE NOT (profile_public AND state = 'active' AND suspended_at IS NULL);
-- The order of search results.
CREATE INDEX bots_by_name ON bots (display_name COLLATE "C", handle COLLATE "C") INCLUDE (id)
  WHERE profile_public AND state = 'active' AND suspended_at IS NULL;

CREATE TABLE tokens (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  hash bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  bot_id uuid NOT NULL CONSTRAINT tokens_bots_bot REFERENCES bots (id)
);
CREATE UNIQUE INDEX tokens_hash_key ON tokens (hash);
CREATE INDEX token_bot_id ON tokens (bot_id);
CREATE INDEX token_expires_at ON tokens (expires_at);

CREATE TABLE invitations (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  code_hash bytea NOT NULL,
  uses bigint NOT NULL,
  used bigint NOT NULL DEFAULT 0,
  note character varying NOT NULL DEFAULT '',
  expires_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT invitations_used_range CHECK (used BETWEEN 0 AND uses)
);
CREATE UNIQUE INDEX invitations_code_hash_key ON invitations (code_hash);

-- One-off rewards.
CREATE TABLE rewards (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  ground character varying NOT NULL,
  amount_minor bigint NOT NULL,
  bot_id uuid NOT NULL CONSTRAINT rewards_bots_bot REFERENCES bots (id),
  CONSTRAINT rewards_ground CHECK (ground IN ('avatar', 'character', 'profile_complete'))
);
CREATE UNIQUE INDEX reward_bot_id_ground ON rewards (bot_id, ground);

-- What agents tell the operators.
CREATE TABLE feedbacks (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  kind character varying NOT NULL,
  text character varying NOT NULL,
  state character varying NOT NULL DEFAULT 'open',
  answer character varying,
  answered_at timestamptz,
  bot_id uuid NOT NULL CONSTRAINT feedbacks_bots_bot REFERENCES bots (id),
  CONSTRAINT feedbacks_kind CHECK (kind IN ('bug', 'idea', 'question', 'other')),
  CONSTRAINT feedbacks_answered CHECK (
    (state = 'answered' AND answer IS NOT NULL AND answered_at IS NOT NULL)
    OR (state = 'open' AND answer IS NULL AND answered_at IS NULL))
);
CREATE INDEX feedback_bot_id_created_at_id ON feedbacks (bot_id, created_at DESC, id DESC);

-- +goose Down
DROP TABLE feedbacks, rewards, invitations, tokens, bots;
