-- Searches use trigrams: an index that is bounded, shrinks when texts end and holds no readable text takes the place of q-grams.
--
-- folded becomes a column that a trigger fills, so what a server of the version before writes is folded, too. That server's searches
-- run on the new indexes: its functions get new meanings below. Each statement can be repeated.

-- +goose NO TRANSACTION
-- +goose Up

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- +goose StatementBegin
-- stoa_fold returns a text as searches compare it: with the full case folding of Unicode, in normal form C. What is lower case is the
-- locale's to say; the letters that fold otherwise stand here. Stored texts depend on it: a changed one needs every row folded again.
CREATE OR REPLACE FUNCTION stoa_fold(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF octet_length(t) = length(t) THEN
    RETURN lower(t COLLATE "C");
  END IF;
  IF t ~ '[\u0130\u0345\u1E9B\u1F80-\u1FFC]' THEN
    t := normalize(t, NFD);
  END IF;
  t := replace(replace(lower(t), 'ß', 'ss'), 'ς', 'σ');
  IF t ~ '[\u00B5\u0149\u017F\u0345\u03D0-\u03F5\u0587\u1C80-\u1C88\u1E9A\uFB00-\uFB17]' THEN
    t := translate(t, U&'\00B5\017F\0345\03D0\03D1\03D5\03D6\03F0\03F1\03F5\1C80\1C81\1C82\1C83\1C84\1C85\1C86\1C87\1C88',
      U&'\03BCs\03B9\03B2\03B8\03C6\03C0\03BA\03C1\03B5\0432\0434\043E\0441\0442\0442\044A\0463\A64B');
    t := replace(replace(replace(replace(t, U&'\0149', U&'\02BCn'), U&'\0587', U&'\0565\0582'), U&'\1E9A', U&'a\02BE'), U&'\FB00', 'ff');
    t := replace(replace(replace(replace(t, U&'\FB01', 'fi'), U&'\FB02', 'fl'), U&'\FB03', 'ffi'), U&'\FB04', 'ffl');
    t := replace(replace(replace(replace(t, U&'\FB05', 'st'), U&'\FB06', 'st'), U&'\FB13', U&'\0574\0576'), U&'\FB14', U&'\0574\0565');
    t := replace(replace(replace(t, U&'\FB15', U&'\0574\056B'), U&'\FB16', U&'\057E\0576'), U&'\FB17', U&'\0574\056D');
  END IF;
  IF t IS NOT NFC NORMALIZED THEN
    t := normalize(t, NFC);
  END IF;
  RETURN t;
END
$$;
-- +goose StatementEnd

-- The fields of a row are joined by U+001F, which none of them can hold and no search can ask for.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_fold_bot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.folded := stoa_fold(concat_ws(E'\x1f', NEW.handle, NEW.display_name, NEW.specialty, NEW.bio));
  RETURN NEW;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_fold_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.folded := stoa_fold(concat_ws(E'\x1f', NEW.title, NEW.text));
  RETURN NEW;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_fold_offer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.folded := stoa_fold(concat_ws(E'\x1f', NEW.title, NEW.description));
  RETURN NEW;
END
$$;
-- +goose StatementEnd

-- The value that PostgreSQL generated stays in every row. Each table is locked by itself, for no longer than it takes to say so.
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  ALTER TABLE bots ALTER COLUMN folded DROP EXPRESSION IF EXISTS;
  CREATE OR REPLACE TRIGGER bots_fold BEFORE INSERT OR UPDATE OF handle, display_name, specialty, bio ON bots
    FOR EACH ROW EXECUTE FUNCTION stoa_fold_bot();
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  ALTER TABLE posts ALTER COLUMN folded DROP EXPRESSION IF EXISTS;
  CREATE OR REPLACE TRIGGER posts_fold BEFORE INSERT OR UPDATE OF title, text ON posts FOR EACH ROW EXECUTE FUNCTION stoa_fold_post();
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  ALTER TABLE tasks ALTER COLUMN folded DROP EXPRESSION IF EXISTS;
  CREATE OR REPLACE TRIGGER tasks_fold BEFORE INSERT OR UPDATE OF title, description ON tasks
    FOR EACH ROW EXECUTE FUNCTION stoa_fold_offer();
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  ALTER TABLE services ALTER COLUMN folded DROP EXPRESSION IF EXISTS;
  CREATE OR REPLACE TRIGGER services_fold BEFORE INSERT OR UPDATE OF title, description ON services
    FOR EACH ROW EXECUTE FUNCTION stoa_fold_offer();
END
$$;
-- +goose StatementEnd

-- Rows that hold letters whose folding has changed.
-- +goose StatementBegin
DO $$
DECLARE
  of record;
  done uuid;
  upto uuid;
BEGIN
  FOR of IN SELECT * FROM (VALUES ('bots', 'handle, display_name, specialty, bio'), ('posts', 'title, text'),
    ('tasks', 'title, description'), ('services', 'title, description')) AS searched (name, fields)
  LOOP
    done := '00000000-0000-0000-0000-000000000000';
    LOOP
      EXECUTE format('SELECT id FROM %I WHERE id > $1 ORDER BY id OFFSET 499 LIMIT 1', of.name) INTO upto USING done;
      EXECUTE format('UPDATE %I SET folded = stoa_fold(concat_ws(E''\x1f'', %s)) WHERE id > $1 AND ($2 IS NULL OR id <= $2)
        AND octet_length(concat(%2$s)) > length(concat(%2$s)) AND folded <> stoa_fold(concat_ws(E''\x1f'', %2$s))',
        of.name, of.fields) USING done, upto;
      COMMIT;
      EXIT WHEN upto IS NULL;
      done := upto;
    END LOOP;
  END LOOP;
END
$$;
-- +goose StatementEnd

-- A write adds its trigrams to a list, which whoever fills it merges into the index: half a megabyte takes some 20 ms.
DROP INDEX CONCURRENTLY IF EXISTS bots_trigrams;
CREATE INDEX CONCURRENTLY bots_trigrams ON bots USING gin (folded gin_trgm_ops) WITH (gin_pending_list_limit = 512);
DROP INDEX CONCURRENTLY IF EXISTS posts_trigrams;
CREATE INDEX CONCURRENTLY posts_trigrams ON posts USING gin
  ((CASE WHEN visibility = 'public' AND deleted_at IS NULL THEN folded END) gin_trgm_ops) WITH (gin_pending_list_limit = 512);
DROP INDEX CONCURRENTLY IF EXISTS tasks_trigrams;
CREATE INDEX CONCURRENTLY tasks_trigrams ON tasks USING gin
  ((CASE WHEN removed_at IS NULL THEN folded END) gin_trgm_ops) WITH (gin_pending_list_limit = 512);
DROP INDEX CONCURRENTLY IF EXISTS services_trigrams;
CREATE INDEX CONCURRENTLY services_trigrams ON services USING gin
  ((CASE WHEN deleted_at IS NULL THEN folded END) gin_trgm_ops) WITH (gin_pending_list_limit = 512);
-- No statistics: none could help, and ANALYZE would keep texts in them.
ALTER INDEX posts_trigrams ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX tasks_trigrams ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX services_trigrams ALTER COLUMN 1 SET STATISTICS 0;

-- The version before asks stoa_qgrams(text) @@ (SELECT stoa_qgram_query(word)). PostgreSQL writes functions in SQL out, so it reads
-- that as text LIKE pattern from here on, which the new indexes answer. The old indexes keep the function that they were made with
-- until they are dropped.
-- +goose StatementBegin
DO $$
BEGIN
  SET LOCAL lock_timeout = '1s';
  IF to_regprocedure('stoa_qgrams_indexed(text)') IS NULL THEN
    ALTER FUNCTION stoa_qgrams(text) RENAME TO stoa_qgrams_indexed;
  END IF;
  DROP FUNCTION IF EXISTS stoa_qgram_query(text);
  CREATE FUNCTION stoa_qgram_query(t text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    $q$ SELECT ARRAY['%' || regexp_replace(stoa_fold(t), '([\\%_])', '\\\1', 'g') || '%'] $q$;
  CREATE OR REPLACE FUNCTION stoa_qgrams(t text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $q$ SELECT t $q$;
  CREATE OR REPLACE FUNCTION stoa_holds(t text, patterns text[]) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    $q$ SELECT t LIKE patterns[1] $q$;
  IF to_regoperator('@@(text,text[])') IS NULL THEN
    CREATE OPERATOR @@ (LEFTARG = text, RIGHTARG = text[], FUNCTION = stoa_holds);
  END IF;
END
$$;
-- +goose StatementEnd

DROP INDEX CONCURRENTLY IF EXISTS bots_qgrams;
DROP INDEX CONCURRENTLY IF EXISTS posts_qgrams;
DROP INDEX CONCURRENTLY IF EXISTS tasks_qgrams;
DROP INDEX CONCURRENTLY IF EXISTS services_qgrams;
DROP FUNCTION IF EXISTS stoa_qgrams_indexed(text);

-- +goose Down
DROP OPERATOR @@ (text, text[]);
DROP FUNCTION stoa_holds(text, text[]);
DROP FUNCTION stoa_qgrams(text);
DROP FUNCTION stoa_qgram_query(text);
-- +goose StatementBegin
CREATE FUNCTION stoa_qgrams(t text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
  SELECT array_to_tsvector(ARRAY(SELECT concat(a, b, d, e, f) FROM string_to_array(t, NULL) AS c,
    unnest(c, c[2:], c[3:], c[4:], c[5:]) AS gram(a, b, d, e, f)))
$$;
-- +goose StatementEnd
CREATE INDEX CONCURRENTLY bots_qgrams ON bots USING gin (stoa_qgrams(folded));
CREATE INDEX CONCURRENTLY posts_qgrams ON posts USING gin
  (stoa_qgrams(CASE WHEN visibility = 'public' AND deleted_at IS NULL THEN folded END));
CREATE INDEX CONCURRENTLY tasks_qgrams ON tasks USING gin (stoa_qgrams(CASE WHEN removed_at IS NULL THEN folded END));
CREATE INDEX CONCURRENTLY services_qgrams ON services USING gin (stoa_qgrams(CASE WHEN deleted_at IS NULL THEN folded END));
DROP EXTENSION pg_trgm CASCADE;
