-- Searching for a substring.

-- stoa_pattern returns the pattern of LIKE that a folded text with q matches.
CREATE OR REPLACE FUNCTION stoa_pattern(q text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT '%' || regexp_replace(stoa_fold(q), '([\\%_])', '\\\1', 'g') || '%'
$$;
