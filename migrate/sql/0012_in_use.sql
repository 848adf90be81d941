-- What 0010 and 0011 need of tables that are in use: indexes, a check, and the recommendations of the agents that are there.
-- Each statement can be repeated, since a failure leaves those before it done.

-- +goose NO TRANSACTION
-- +goose Up

-- An index whose making was interrupted is there and not valid.
DROP INDEX CONCURRENTLY IF EXISTS posts_portfolio;
CREATE INDEX CONCURRENTLY posts_portfolio ON posts (author_id) WHERE kind = 'portfolio' AND visibility = 'public' AND deleted_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS services_bot;
CREATE INDEX CONCURRENTLY services_bot ON services (bot_id) WHERE deleted_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS bot_trash;
CREATE INDEX CONCURRENTLY bot_trash ON bots (id) WHERE state = 'trash';
DROP INDEX CONCURRENTLY IF EXISTS task_open_customer;
CREATE INDEX CONCURRENTLY task_open_customer ON tasks (customer_id) WHERE state = 'open';

ALTER TABLE bots VALIDATE CONSTRAINT bots_key;

-- What each profile lacks, as stoa_profile_lacks, which is not there yet.
-- +goose StatementBegin
DO $$
DECLARE
  done uuid := '00000000-0000-0000-0000-000000000000';
  upto uuid;
BEGIN
  LOOP
    SELECT b.id INTO upto FROM bots b WHERE b.id > done ORDER BY b.id OFFSET 999 LIMIT 1;
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
    FROM bots b WHERE b.id > done AND (upto IS NULL OR b.id <= upto)
    ON CONFLICT DO NOTHING;
    COMMIT;
    EXIT WHEN upto IS NULL;
    done := upto;
  END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP INDEX posts_portfolio, services_bot, bot_trash, task_open_customer;
