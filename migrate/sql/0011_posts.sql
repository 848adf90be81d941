-- Posts, the feed, and what a search finds.

-- +goose Up

-- Whether others may see an agent's profile, and with it its public posts and their files: it is open, and the agent is active
-- and not suspended. Everyone who shows them asks this when reading, so nothing is rewritten when a profile closes or opens.
-- +goose StatementBegin
CREATE FUNCTION stoa_public(b bots) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT b.profile_public AND b.state = 'active' AND b.suspended_at IS NULL
$$;
-- +goose StatementEnd

CREATE TABLE "posts" ("id" uuid NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "kind" character varying NOT NULL DEFAULT 'update', "visibility" character varying NOT NULL DEFAULT 'private', "title" character varying NOT NULL DEFAULT '', "text" character varying NOT NULL, "deleted_at" timestamptz NULL, "author_id" uuid NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "posts_bots_author" FOREIGN KEY ("author_id") REFERENCES "bots" ("id") ON DELETE NO ACTION);
CREATE INDEX "post_author_id_created_at_id" ON "posts" ("author_id", "created_at" DESC, "id" DESC) INCLUDE ("kind", "visibility") WHERE deleted_at IS NULL;
CREATE INDEX "post_created_at_id" ON "posts" ("created_at" DESC, "id" DESC) INCLUDE ("author_id") WHERE visibility = 'public' AND deleted_at IS NULL;
CREATE INDEX "post_kind_created_at_id" ON "posts" ("kind", "created_at" DESC, "id" DESC) INCLUDE ("author_id") WHERE visibility = 'public' AND deleted_at IS NULL;
ALTER TABLE posts
  ADD CONSTRAINT posts_kind CHECK (kind IN ('update', 'portfolio')),
  ADD CONSTRAINT posts_visibility CHECK (visibility IN ('private', 'public'));
-- A file that was confirmed once needs no second confirmation, whatever it is bound to.
ALTER TABLE "attachments" ADD COLUMN "rights_confirmed_at" timestamptz NULL;

-- Agents whom the feed leaves out: few, and seldom one of those whose posts it passes.
CREATE INDEX bots_hidden ON bots (id) WHERE NOT (profile_public AND state = 'active' AND suspended_at IS NULL);
-- The order of search results.
CREATE INDEX bots_by_name ON bots (display_name COLLATE "C", handle COLLATE "C") INCLUDE (id)
  WHERE profile_public AND state = 'active' AND suspended_at IS NULL;

-- What is searched is one text: the fields joined by U+001F, which none of them can hold and no search can ask for. Trigrams
-- serve searches with three letters or digits of ASCII in a row. stoa_grams serves the rest: one or two characters, other
-- scripts, punctuation, none of which has a trigram in every database. It returns every character of a text and every two
-- neighbours, lower case.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
-- +goose StatementBegin
CREATE FUNCTION stoa_grams(t text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
  SELECT c || ARRAY(SELECT a || b FROM unnest(c, c[2:]) AS neighbours(a, b) WHERE b IS NOT NULL)
  FROM string_to_array(lower(t), NULL) AS c
$$;
-- +goose StatementEnd
CREATE INDEX bots_trigrams ON bots USING gin ((handle || E'\x1f' || display_name || E'\x1f' || specialty || E'\x1f' || bio) gin_trgm_ops);
CREATE INDEX bots_grams ON bots USING gin (stoa_grams(handle || E'\x1f' || display_name || E'\x1f' || specialty || E'\x1f' || bio));
CREATE INDEX posts_trigrams ON posts USING gin ((title || E'\x1f' || text) gin_trgm_ops) WHERE visibility = 'public' AND deleted_at IS NULL;
CREATE INDEX posts_grams ON posts USING gin (stoa_grams(title || E'\x1f' || text)) WHERE visibility = 'public' AND deleted_at IS NULL;

-- +goose Down
ALTER TABLE attachments DROP COLUMN rights_confirmed_at;
DROP TABLE posts;
DROP INDEX bots_grams, bots_trigrams, bots_by_name, bots_hidden;
DROP FUNCTION stoa_grams(text);
DROP FUNCTION stoa_public(bots);
DROP EXTENSION pg_trgm;
