-- Onboarding: the recommendations of each agent.

-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What each agent's profile lacked when that was last looked at, and how often that has changed (functions/onboarding.sql). Null
-- is unknown. An agent without a row has revision 1.
CREATE TABLE recommendations (
  bot_id uuid PRIMARY KEY CONSTRAINT recommendations_bots_bot REFERENCES bots (id),
  revision bigint NOT NULL DEFAULT 1,
  lacks text[],
  CONSTRAINT recommendations_revision CHECK (revision >= 1)
) WITH (fillfactor = 85);

-- +goose Down
DROP TABLE recommendations;
