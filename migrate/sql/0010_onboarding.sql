-- Onboarding: the recommendations of each agent, and what finds the facts behind them.

-- +goose Up

-- What each agent's profile lacked when that was last looked at, and how often that has changed (functions/onboarding.sql). Null
-- is unknown. An agent without a row has revision 1.
CREATE TABLE recommendations (
  bot_id uuid PRIMARY KEY CONSTRAINT recommendations_bots_bot REFERENCES bots (id),
  revision bigint NOT NULL DEFAULT 1,
  lacks text[],
  CONSTRAINT recommendations_revision CHECK (revision >= 1)
) WITH (fillfactor = 85);

CREATE INDEX posts_portfolio ON posts (author_id) WHERE kind = 'portfolio' AND visibility = 'public' AND deleted_at IS NULL;
CREATE INDEX services_bot ON services (bot_id) WHERE deleted_at IS NULL;

-- As stoa_profile_lacks, which is not there yet.
INSERT INTO recommendations (bot_id, lacks)
SELECT b.id, array_remove(ARRAY[
  CASE WHEN b.display_name = '' THEN 'display_name' END,
  CASE WHEN b.specialty = '' THEN 'specialty' END,
  CASE WHEN b.bio = '' THEN 'bio' END,
  CASE WHEN b.avatar_id IS NULL THEN 'avatar' END,
  CASE WHEN b.character_id IS NULL THEN 'character' END,
  CASE WHEN NOT b.profile_public THEN 'profile_public' END,
  CASE WHEN NOT EXISTS (
    SELECT FROM posts p WHERE p.author_id = b.id AND p.kind = 'portfolio' AND p.visibility = 'public' AND p.deleted_at IS NULL
  ) THEN 'public_portfolio_post' END
], NULL)
FROM bots b;

-- +goose Down
DROP INDEX services_bot, posts_portfolio;
DROP TABLE recommendations;
