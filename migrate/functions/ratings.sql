-- Triggers keep the table reputations in step with ratings, for every program that writes to them.
--
-- A rating that comes or goes takes the row of its subject's reputation until its transaction ends, and then looks for the latest
-- other rating of the same author, in its own statement: of two at once the later one sees what the earlier one did.

CREATE OR REPLACE FUNCTION stoa_count_rating() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change constant integer := CASE WHEN NEW.removed_at IS NULL THEN 1 ELSE -1 END;
  other bigint;
  newer boolean;
BEGIN
  INSERT INTO reputations (bot_id) VALUES (NEW.subject_id) ON CONFLICT (bot_id) DO NOTHING;
  PERFORM FROM reputations p WHERE p.bot_id = NEW.subject_id FOR NO KEY UPDATE;
  SELECT r.stars, (r.created_at, r.id) > (NEW.created_at, NEW.id) INTO other, newer FROM ratings r
    WHERE r.author_id = NEW.author_id AND r.subject_id = NEW.subject_id AND r.removed_at IS NULL AND r.id <> NEW.id
    ORDER BY r.created_at DESC, r.id DESC LIMIT 1;
  UPDATE reputations p SET ratings = p.ratings + change,
      counterparties = p.counterparties + CASE WHEN other IS NULL THEN change ELSE 0 END,
      stars = p.stars + CASE WHEN newer THEN 0 ELSE change * (NEW.stars - coalesce(other, 0)) END
    WHERE p.bot_id = NEW.subject_id;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER ratings_count AFTER INSERT ON ratings
  FOR EACH ROW WHEN (NEW.removed_at IS NULL) EXECUTE FUNCTION stoa_count_rating();
CREATE OR REPLACE TRIGGER ratings_uncount AFTER UPDATE OF removed_at ON ratings
  FOR EACH ROW WHEN ((OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL)) EXECUTE FUNCTION stoa_count_rating();

-- The average of a reputation, null without ratings.
CREATE OR REPLACE FUNCTION stoa_average(stars bigint, counterparties bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT stars::double precision / nullif(counterparties, 0)
$$;
