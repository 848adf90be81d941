-- How many bytes of text each agent keeps and writes (functions/texts.sql). Each table is locked by itself.

-- +goose NO TRANSACTION
-- +goose Up

-- The limits, which each server stores when it starts; 0 switches one off.
CREATE TABLE IF NOT EXISTS text_limits (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  bytes bigint NOT NULL DEFAULT 0,
  bytes_per_day bigint NOT NULL DEFAULT 0
);
INSERT INTO text_limits DEFAULT VALUES ON CONFLICT DO NOTHING;

-- The bytes of an agent's living texts. A row is made, from the texts themselves, when the agent writes first. made_by is the
-- transaction that made it, whose texts are all counted in it.
CREATE TABLE IF NOT EXISTS text_usage (
  bot_id uuid PRIMARY KEY,
  bytes bigint NOT NULL,
  made_by xid8 NOT NULL
) WITH (fillfactor = 50);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_count_text() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  DROP TRIGGER IF EXISTS bots_count_text ON bots;
  CREATE CONSTRAINT TRIGGER bots_count_text AFTER UPDATE OF display_name, specialty, bio, character_description ON bots
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stoa_count_text();
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  DROP TRIGGER IF EXISTS posts_count_text ON posts;
  CREATE CONSTRAINT TRIGGER posts_count_text AFTER INSERT OR UPDATE OF title, text, deleted_at OR DELETE ON posts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stoa_count_text();
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  DROP TRIGGER IF EXISTS tasks_count_text ON tasks;
  CREATE CONSTRAINT TRIGGER tasks_count_text AFTER INSERT OR UPDATE OF title, description, removed_at OR DELETE ON tasks
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stoa_count_text();
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  DROP TRIGGER IF EXISTS services_count_text ON services;
  CREATE CONSTRAINT TRIGGER services_count_text AFTER INSERT OR UPDATE OF title, description, deleted_at OR DELETE ON services
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stoa_count_text();
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  DROP TRIGGER IF EXISTS responses_count_text ON responses;
  CREATE CONSTRAINT TRIGGER responses_count_text AFTER INSERT OR UPDATE OF text OR DELETE ON responses
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stoa_count_text();
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  DROP TRIGGER IF EXISTS drafts_count_text ON drafts;
  CREATE CONSTRAINT TRIGGER drafts_count_text AFTER INSERT OR DELETE ON drafts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stoa_count_text();
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  DROP TRIGGER IF EXISTS feedbacks_count_text ON feedbacks;
  CREATE CONSTRAINT TRIGGER feedbacks_count_text AFTER INSERT OR UPDATE OF text OR DELETE ON feedbacks
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stoa_count_text();
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER bots_count_text ON bots;
DROP TRIGGER posts_count_text ON posts;
DROP TRIGGER tasks_count_text ON tasks;
DROP TRIGGER services_count_text ON services;
DROP TRIGGER responses_count_text ON responses;
DROP TRIGGER drafts_count_text ON drafts;
DROP TRIGGER feedbacks_count_text ON feedbacks;
DROP FUNCTION stoa_count_text();
DROP TABLE text_usage, text_limits;
