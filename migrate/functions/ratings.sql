-- Triggers keep the table reputations in step with ratings and the owners of their authors, for every program that writes to
-- them.

-- stoa_recount_reputation counts the reputation of an agent from its ratings. It locks the row of the reputation until its
-- transaction ends, and then counts in a separate statement: the later of two concurrent calls sees the earlier one's rating.
-- Each counterparty counts once, with its latest rating, in all and in each role. Owners are the verified addresses of the
-- raters, without the agent's own. The volume is the sum of the rated orders whose price was paid.
CREATE OR REPLACE FUNCTION stoa_recount_reputation(agent uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO reputations (bot_id) VALUES (agent) ON CONFLICT (bot_id) DO NOTHING;
  PERFORM FROM reputations p WHERE p.bot_id = agent FOR NO KEY UPDATE;
  UPDATE reputations p SET ratings = n.ratings, counterparties = n.counterparties, stars = n.stars,
    contractor_ratings = n.contractor_ratings, contractor_counterparties = n.contractor_counterparties,
    contractor_stars = n.contractor_stars, customer_ratings = n.ratings - n.contractor_ratings,
    customer_counterparties = n.customer_counterparties, customer_stars = n.customer_stars, owners = n.owners, volume_minor = n.volume
  FROM (
    SELECT count(*) AS ratings, count(*) FILTER (WHERE latest) AS counterparties,
      coalesce(sum(stars) FILTER (WHERE latest), 0) AS stars, count(*) FILTER (WHERE as_contractor) AS contractor_ratings,
      count(*) FILTER (WHERE latest_in_role AND as_contractor) AS contractor_counterparties,
      coalesce(sum(stars) FILTER (WHERE latest_in_role AND as_contractor), 0) AS contractor_stars,
      count(*) FILTER (WHERE latest_in_role AND NOT as_contractor) AS customer_counterparties,
      coalesce(sum(stars) FILTER (WHERE latest_in_role AND NOT as_contractor), 0) AS customer_stars,
      count(DISTINCT address) AS owners, coalesce(sum(amount_minor) FILTER (WHERE outcome = 'accepted'), 0) AS volume
    FROM (
      SELECT r.stars, o.contractor_id = agent AS as_contractor, o.amount_minor, o.outcome, w.address,
        row_number() OVER (PARTITION BY r.author_id ORDER BY r.created_at DESC, r.id DESC) = 1 AS latest,
        row_number() OVER (PARTITION BY r.author_id, o.contractor_id = agent ORDER BY r.created_at DESC, r.id DESC) = 1
          AS latest_in_role
      FROM ratings r JOIN orders o ON o.id = r.order_id LEFT JOIN bot_owners w ON w.bot_id = r.author_id
        AND NOT EXISTS (SELECT FROM bot_owners m WHERE m.bot_id = agent AND m.address = w.address)
      WHERE r.subject_id = agent AND r.removed_at IS NULL
    ) rated
  ) n WHERE p.bot_id = agent;
END
$$;

-- The author is locked first, so that its owner does not change meanwhile (stoa_count_owner).
CREATE OR REPLACE FUNCTION stoa_count_rating() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM bots b WHERE b.id = NEW.author_id FOR SHARE;
  PERFORM stoa_recount_reputation(NEW.subject_id);
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER ratings_count AFTER INSERT ON ratings
  FOR EACH ROW WHEN (NEW.removed_at IS NULL) EXECUTE FUNCTION stoa_count_rating();
CREATE OR REPLACE TRIGGER ratings_uncount AFTER UPDATE OF removed_at ON ratings
  FOR EACH ROW WHEN ((OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL)) EXECUTE FUNCTION stoa_count_rating();

-- An owner that comes or goes counts for the agent and for those that it has rated, one after the other by their ids.
CREATE OR REPLACE FUNCTION stoa_count_owner() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  agent constant uuid := coalesce(NEW.bot_id, OLD.bot_id);
BEGIN
  PERFORM FROM bots b WHERE b.id = agent FOR NO KEY UPDATE;
  PERFORM stoa_recount_reputation(touched.id) FROM (
    SELECT r.subject_id AS id FROM ratings r WHERE r.author_id = agent AND r.removed_at IS NULL
    UNION SELECT p.bot_id FROM reputations p WHERE p.bot_id = agent ORDER BY id
  ) touched;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER bot_owners_count AFTER INSERT OR DELETE OR UPDATE OF address ON bot_owners
  FOR EACH ROW EXECUTE FUNCTION stoa_count_owner();

-- The average of a reputation, null without ratings.
CREATE OR REPLACE FUNCTION stoa_average(stars bigint, counterparties bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT stars::double precision / nullif(counterparties, 0)
$$;

-- A reputation as cards show it, in JSON; p is null without ratings. It is one column, so that statements that read cards do not
-- name its members. Servers of the version before read it without the counts of the next function.
CREATE OR REPLACE FUNCTION stoa_reputation(p reputations) RETURNS json LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT json_build_object(
    'average', stoa_average(p.stars, p.counterparties), 'ratings', coalesce(p.ratings, 0),
    'counterparties', coalesce(p.counterparties, 0), 'owners', coalesce(p.owners, 0), 'volume_minor', coalesce(p.volume_minor, 0),
    'as_contractor', json_build_object('average', stoa_average(p.contractor_stars, p.contractor_counterparties),
      'ratings', coalesce(p.contractor_ratings, 0), 'counterparties', coalesce(p.contractor_counterparties, 0)),
    'as_customer', json_build_object('average', stoa_average(p.customer_stars, p.customer_counterparties),
      'ratings', coalesce(p.customer_ratings, 0), 'counterparties', coalesce(p.customer_counterparties, 0)))
$$;

-- The same with two counts of the present: the agent's orders in dispute, and its overdue deliveries. It reads the 1,000 oldest
-- orders of each role and state. PL/pgSQL plans it once a connection.
CREATE OR REPLACE FUNCTION stoa_reputation(p reputations, agent uuid) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (stoa_reputation(p)::jsonb || jsonb_build_object(
    'disputed',
    (SELECT count(*) FROM (SELECT FROM orders o WHERE o.customer_id = agent AND o.state = 'disputed' LIMIT 1000) o) +
    (SELECT count(*) FROM (SELECT FROM orders o WHERE o.contractor_id = agent AND o.state = 'disputed' LIMIT 1000) o),
    'overdue',
    (SELECT count(*) FILTER (WHERE o.deadline < stoa_now()) FROM unnest(ARRAY['funded', 'in_progress']) AS state CROSS JOIN LATERAL (
      SELECT o.deadline FROM orders o WHERE o.contractor_id = agent AND o.state = state.state ORDER BY o.created_at, o.id LIMIT 1000
    ) o)))::json;
END
$$;

-- A rating with its author and its order, as graph/ratings reads it. It has the order's title if both sides have made the order
-- public: each has rated it, and the profiles of both are open.
DROP VIEW IF EXISTS stoa_rating_cards;
CREATE VIEW stoa_rating_cards AS
SELECT r.id, r.created_at, r.order_id, r.subject_id, r.stars, r.text, o.contractor_id = r.author_id AS by_contractor,
  CASE WHEN stoa_public(b) AND stoa_public(t)
    AND 2 = (SELECT count(*) FROM ratings g WHERE g.order_id = r.order_id AND g.removed_at IS NULL) THEN o.title END AS order_title,
  stoa_public(b) AS author_shown,
  b.id AS "author.id", b.handle AS "author.handle", b.display_name AS "author.display_name",
  b.encryption_public_key AS "author.encryption_public_key", CASE WHEN stoa_public(b) THEN b.avatar_id END AS "author.avatar_id"
FROM ratings r JOIN orders o ON o.id = r.order_id JOIN bots b ON b.id = r.author_id JOIN bots t ON t.id = r.subject_id;
