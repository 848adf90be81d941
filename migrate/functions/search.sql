-- Searching by q-grams.

-- What the q-grams of every text that holds t match. PL/pgSQL plans the expression once a connection; a function in SQL that aggregates
-- is planned anew by each search.
CREATE OR REPLACE FUNCTION stoa_qgram_query(t text) RETURNS tsquery LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT string_agg('''' || replace(replace(substr(t, i, 5), '\', '\\'), '''', '''''')
      || CASE WHEN length(t) < 5 THEN ''':*' ELSE '''' END,
      ' & ')::tsquery
    FROM generate_series(1, greatest(length(t) - 4, 1)) AS i);
END
$$;
