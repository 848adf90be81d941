-- Searching for a substring, whatever its case, and lists that pick out a state or a kind.
--
-- folded is the searched text of a row: its fields joined by U+001F, which none of them can hold and no search can ask for, in lower
-- case. It is stored, since folding is most of the cost of looking at a row, and never compressed. What is lower case is the
-- database's to say: in a UTF-8 locale every letter has a case, in locale C those of ASCII alone.
--
-- A text is indexed by its q-grams: each of its characters with the four that follow. A search of up to five characters is the
-- beginning of a gram, so the index answers it exactly; a longer one is in a text only if all its grams are. That leaves few texts to
-- look at that do not match, where trigrams, most of which are in every long text, leave most. The index is a tsvector's, which finds
-- beginnings of keys.

-- +goose Up

-- The q-grams of a text, as keys of an index. Texts of ASCII take a way that is three times as fast; the keys are the same.
-- +goose StatementBegin
CREATE FUNCTION stoa_qgrams(t text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
  SELECT array_to_tsvector(CASE WHEN octet_length(t) = length(t)
    THEN ARRAY(SELECT convert_from(substr(b, i, 5), 'UTF8') FROM convert_to(t, 'UTF8') AS b, generate_series(1, length(b)) AS i)
    ELSE ARRAY(SELECT concat(a, b, d, e, f) FROM string_to_array(t, NULL) AS c, unnest(c, c[2:], c[3:], c[4:], c[5:]) AS gram(a, b, d, e, f))
  END)
$$;
-- +goose StatementEnd

-- What the q-grams of every text that holds t match.
-- +goose StatementBegin
CREATE FUNCTION stoa_qgram_query(t text) RETURNS tsquery LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT string_agg('''' || replace(replace(substr(t, i, 5), '\', '\\'), '''', '''''') || CASE WHEN length(t) < 5 THEN ''':*' ELSE '''' END,
    ' & ')::tsquery
  FROM generate_series(1, greatest(length(t) - 4, 1)) AS i
$$;
-- +goose StatementEnd

DROP INDEX bots_trigrams, bots_grams, posts_trigrams, posts_grams, tasks_trigrams, tasks_grams, services_trigrams, services_grams;
DROP FUNCTION stoa_grams(text);

ALTER TABLE bots ADD COLUMN folded text NOT NULL
  GENERATED ALWAYS AS (lower(handle || E'\x1f' || display_name || E'\x1f' || specialty || E'\x1f' || bio)) STORED;
ALTER TABLE posts ADD COLUMN folded text NOT NULL GENERATED ALWAYS AS (lower(title || E'\x1f' || text)) STORED;
ALTER TABLE tasks ADD COLUMN folded text NOT NULL GENERATED ALWAYS AS (lower(title || E'\x1f' || description)) STORED;
ALTER TABLE services ADD COLUMN folded text NOT NULL GENERATED ALWAYS AS (lower(title || E'\x1f' || description)) STORED;

-- No statistics: none could help, and to make them ANALYZE would read every text and take its q-grams.
ALTER TABLE bots ALTER COLUMN folded SET STORAGE EXTERNAL, ALTER COLUMN folded SET STATISTICS 0;
ALTER TABLE posts ALTER COLUMN folded SET STORAGE EXTERNAL, ALTER COLUMN folded SET STATISTICS 0;
ALTER TABLE tasks ALTER COLUMN folded SET STORAGE EXTERNAL, ALTER COLUMN folded SET STATISTICS 0;
ALTER TABLE services ALTER COLUMN folded SET STORAGE EXTERNAL, ALTER COLUMN folded SET STATISTICS 0;

-- Each write pays for its own keys: a list of pending ones is read by every search, and emptied at the cost of whoever fills it. The
-- condition stands in the expression and not in a predicate: a table without statistics would let the planner believe that the predicate
-- leaves one row, for which any other index would do, and the q-grams of every row would be taken anew.
CREATE INDEX bots_qgrams ON bots USING gin (stoa_qgrams(folded)) WITH (fastupdate = off);
CREATE INDEX posts_qgrams ON posts USING gin (stoa_qgrams(CASE WHEN visibility = 'public' AND deleted_at IS NULL THEN folded END))
  WITH (fastupdate = off);
CREATE INDEX tasks_qgrams ON tasks USING gin (stoa_qgrams(CASE WHEN removed_at IS NULL THEN folded END)) WITH (fastupdate = off);
CREATE INDEX services_qgrams ON services USING gin (stoa_qgrams(CASE WHEN deleted_at IS NULL THEN folded END)) WITH (fastupdate = off);
ALTER INDEX bots_qgrams ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX posts_qgrams ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX tasks_qgrams ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX services_qgrams ALTER COLUMN 1 SET STATISTICS 0;

-- An agent's orders in one state, and its public posts of one kind: a page of them reads no others. An order changes its state five times
-- in its life; that the new state goes into two indexes, and that no change of it can stay within its page any more, costs a step of an
-- order some 2 % of its time (docs/decisions.md).
CREATE INDEX orders_customer_state ON orders (customer_id, state, created_at DESC, id DESC);
CREATE INDEX orders_contractor_state ON orders (contractor_id, state, created_at DESC, id DESC);
CREATE INDEX posts_works ON posts (author_id, kind, created_at DESC, id DESC) WHERE visibility = 'public' AND deleted_at IS NULL;

-- +goose Down
DROP INDEX posts_works, orders_contractor_state, orders_customer_state;
ALTER TABLE services DROP COLUMN folded;
ALTER TABLE tasks DROP COLUMN folded;
ALTER TABLE posts DROP COLUMN folded;
ALTER TABLE bots DROP COLUMN folded;
DROP FUNCTION stoa_qgram_query(text);
DROP FUNCTION stoa_qgrams(text);
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
CREATE INDEX tasks_trigrams ON tasks USING gin ((title || E'\x1f' || description) gin_trgm_ops) WHERE removed_at IS NULL;
CREATE INDEX tasks_grams ON tasks USING gin (stoa_grams(title || E'\x1f' || description)) WHERE removed_at IS NULL;
CREATE INDEX services_trigrams ON services USING gin ((title || E'\x1f' || description) gin_trgm_ops) WHERE deleted_at IS NULL;
CREATE INDEX services_grams ON services USING gin (stoa_grams(title || E'\x1f' || description)) WHERE deleted_at IS NULL;
