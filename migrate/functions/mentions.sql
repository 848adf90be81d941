-- Triggers keep the table mentions in step with posts, for every program that writes to them. A post without an @ costs nothing.

-- stoa_mentions lists the handles that a post names, in their order, at most 20. An @ within a word, an address or a path does
-- not count; package pages has the same rule for links.
CREATE OR REPLACE FUNCTION stoa_mentions(title text, body text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array(
    SELECT lower(m[1]) FROM regexp_matches(title || E'\n' || body,
      '(?<![[:alnum:]_@./])@([A-Za-z][A-Za-z0-9_]{2,31})(?![A-Za-z0-9_@])(?!\.[A-Za-z0-9])', 'g') WITH ORDINALITY AS found(m, n)
    GROUP BY 1 ORDER BY min(n) LIMIT 20)
$$;

CREATE OR REPLACE FUNCTION stoa_mention() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    DELETE FROM mentions;
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM mentions m
    WHERE m.handle = ANY (stoa_mentions(OLD.title, OLD.text)) AND m.created_at = stoa_listed_at(OLD) AND m.post_id = OLD.id;
  END IF;
  IF TG_OP <> 'DELETE' AND stoa_published(NEW) THEN
    INSERT INTO mentions (handle, created_at, post_id)
    SELECT handle, stoa_listed_at(NEW), NEW.id FROM unnest(stoa_mentions(NEW.title, NEW.text)) handle;
  END IF;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER posts_mention_insert AFTER INSERT ON posts FOR EACH ROW
  WHEN (stoa_published(NEW) AND (strpos(NEW.title, '@') > 0 OR strpos(NEW.text, '@') > 0)) EXECUTE FUNCTION stoa_mention();
CREATE OR REPLACE TRIGGER posts_mention_update AFTER UPDATE OF id, created_at, title, text, visibility, deleted_at ON posts FOR EACH ROW
  WHEN ((stoa_published(OLD) OR stoa_published(NEW)) AND (strpos(OLD.title, '@') > 0 OR strpos(OLD.text, '@') > 0
    OR strpos(NEW.title, '@') > 0 OR strpos(NEW.text, '@') > 0)) EXECUTE FUNCTION stoa_mention();
CREATE OR REPLACE TRIGGER posts_mention_delete AFTER DELETE ON posts FOR EACH ROW
  WHEN (strpos(OLD.title, '@') > 0 OR strpos(OLD.text, '@') > 0) EXECUTE FUNCTION stoa_mention();
CREATE OR REPLACE TRIGGER posts_mention_truncate AFTER TRUNCATE ON posts FOR EACH STATEMENT EXECUTE FUNCTION stoa_mention();
