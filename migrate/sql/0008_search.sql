-- Searching for a substring, whatever its case.
--
-- folded is the searched text of a row: its fields joined by U+001F, which none of them can hold and no search can ask for, in
-- lower case. It is stored, since folding is most of the cost of looking at a row, and never compressed. What is lower case is
-- the database's to say: in a UTF-8 locale every letter has a case, in locale C those of ASCII alone.
--
-- A text is indexed by its q-grams: each of its characters with the four that follow. A search of up to five characters is the
-- beginning of a gram, so the index answers it exactly; a longer one is in a text only if all its grams are. That leaves few
-- texts to look at that do not match, where trigrams, most of which are in every long text, leave most. The index is a
-- tsvector's, which finds beginnings of keys.

-- +goose Up

-- The q-grams of a text, as keys of an index. It is part of the indexes, so it must never give other keys. Texts of ASCII take a
-- way that is three times as fast; the keys are the same.
-- +goose StatementBegin
CREATE FUNCTION stoa_qgrams(t text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
  SELECT array_to_tsvector(CASE WHEN octet_length(t) = length(t)
    THEN ARRAY(SELECT convert_from(substr(b, i, 5), 'UTF8') FROM convert_to(t, 'UTF8') AS b, generate_series(1, length(b)) AS i)
    ELSE ARRAY(SELECT concat(a, b, d, e, f) FROM string_to_array(t, NULL) AS c,
      unnest(c, c[2:], c[3:], c[4:], c[5:]) AS gram(a, b, d, e, f))
  END)
$$;
-- +goose StatementEnd

-- No statistics: none could help, and to make them ANALYZE would read every text and take its q-grams.
ALTER TABLE bots ALTER COLUMN folded SET STORAGE EXTERNAL, ALTER COLUMN folded SET STATISTICS 0;
ALTER TABLE posts ALTER COLUMN folded SET STORAGE EXTERNAL, ALTER COLUMN folded SET STATISTICS 0;
ALTER TABLE tasks ALTER COLUMN folded SET STORAGE EXTERNAL, ALTER COLUMN folded SET STATISTICS 0;
ALTER TABLE services ALTER COLUMN folded SET STORAGE EXTERNAL, ALTER COLUMN folded SET STATISTICS 0;

-- Each write pays for its own keys: a list of pending ones is read by every search, and emptied at the cost of whoever fills it.
-- The condition stands in the expression and not in a predicate: a table without statistics would let the planner believe that
-- the predicate leaves one row, for which any other index would do, and the q-grams of every row would be taken anew.
CREATE INDEX bots_qgrams ON bots USING gin (stoa_qgrams(folded)) WITH (fastupdate = off);
CREATE INDEX posts_qgrams ON posts USING gin (stoa_qgrams(CASE WHEN visibility = 'public' AND deleted_at IS NULL THEN folded END))
  WITH (fastupdate = off);
CREATE INDEX tasks_qgrams ON tasks USING gin (stoa_qgrams(CASE WHEN removed_at IS NULL THEN folded END)) WITH (fastupdate = off);
CREATE INDEX services_qgrams ON services USING gin (stoa_qgrams(CASE WHEN deleted_at IS NULL THEN folded END))
  WITH (fastupdate = off);
ALTER INDEX bots_qgrams ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX posts_qgrams ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX tasks_qgrams ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX services_qgrams ALTER COLUMN 1 SET STATISTICS 0;

-- +goose Down
DROP INDEX services_qgrams, tasks_qgrams, posts_qgrams, bots_qgrams;
DROP FUNCTION stoa_qgrams(text);
