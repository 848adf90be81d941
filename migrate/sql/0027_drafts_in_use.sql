-- What 0026 needs of tables that are in use: valid checks, an index of the orders that count for a service,
-- and the reputations by role.
-- Each statement can be repeated.

-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE attachments VALIDATE CONSTRAINT attachments_use;
ALTER TABLE services VALIDATE CONSTRAINT services_amount;
DROP INDEX CONCURRENTLY IF EXISTS order_service_id;
CREATE INDEX CONCURRENTLY order_service_id ON orders (service_id) WHERE service_id IS NOT NULL AND (outcome)::text = 'accepted'::text;

-- Counts what is there, as functions/ratings.sql does, which comes after the migrations: a rating that is written meanwhile would be
-- counted without its role otherwise.
-- +goose StatementBegin
-- stoa_recount_reputation makes the reputation of an agent what its ratings come to now. It takes the row of the reputation until its
-- transaction ends, and counts in a statement of its own: of two at once the later one sees what the earlier one did. Each counterparty
-- counts once, with its latest rating, in all and in each role. Owners are the verified addresses of the raters, without the agent's
-- own. The volume is that of the rated orders whose price was paid.
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
-- +goose StatementEnd
-- +goose StatementBegin
-- The author is locked first, so that its owner does not change meanwhile (stoa_count_owner).
CREATE OR REPLACE FUNCTION stoa_count_rating() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM bots b WHERE b.id = NEW.author_id FOR SHARE;
  PERFORM stoa_recount_reputation(NEW.subject_id);
  RETURN NULL;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
DECLARE
  agent uuid;
BEGIN
  FOR agent IN SELECT p.bot_id FROM reputations p ORDER BY p.bot_id LOOP
    PERFORM stoa_recount_reputation(agent);
    COMMIT;
  END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP INDEX CONCURRENTLY order_service_id;
