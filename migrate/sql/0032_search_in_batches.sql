-- The indexes of q-grams take what is written as a list, and a job merges the list into them: hundreds of texts at once share most of
-- their keys.

-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The keys are those of 0008. PL/pgSQL plans the two expressions once a connection; a function in SQL is planned anew by each
-- statement that writes a text.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_qgrams(t text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
BEGIN
  IF octet_length(t) = length(t) THEN
    RETURN array_to_tsvector(ARRAY(
      SELECT convert_from(substr(b, i, 5), 'UTF8') FROM convert_to(t, 'UTF8') AS b, generate_series(1, length(b)) AS i));
  END IF;
  RETURN array_to_tsvector(ARRAY(SELECT concat(a, b, d, e, f) FROM string_to_array(t, NULL) AS c,
    unnest(c, c[2:], c[3:], c[4:], c[5:]) AS gram(a, b, d, e, f)));
END
$$;
-- +goose StatementEnd

ALTER INDEX bots_qgrams SET (fastupdate = on);
ALTER INDEX posts_qgrams SET (fastupdate = on);
ALTER INDEX tasks_qgrams SET (fastupdate = on);
ALTER INDEX services_qgrams SET (fastupdate = on);

-- +goose Down
SET LOCAL lock_timeout = '1s';

ALTER INDEX bots_qgrams SET (fastupdate = off);
ALTER INDEX posts_qgrams SET (fastupdate = off);
ALTER INDEX tasks_qgrams SET (fastupdate = off);
ALTER INDEX services_qgrams SET (fastupdate = off);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_qgrams(t text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
  SELECT array_to_tsvector(CASE WHEN octet_length(t) = length(t)
    THEN ARRAY(SELECT convert_from(substr(b, i, 5), 'UTF8') FROM convert_to(t, 'UTF8') AS b, generate_series(1, length(b)) AS i)
    ELSE ARRAY(SELECT concat(a, b, d, e, f) FROM string_to_array(t, NULL) AS c,
      unnest(c, c[2:], c[3:], c[4:], c[5:]) AS gram(a, b, d, e, f))
  END)
$$;
-- +goose StatementEnd
