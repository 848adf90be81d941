-- Locks of orders.

-- stoa_order_befriended locks the friendship of two agents until the transaction ends, and reports whether it exists and both may
-- take on new obligations. It checks that in a separate statement, which sees commits made while it waited for the lock.
CREATE OR REPLACE FUNCTION stoa_order_befriended(customer uuid, contractor uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM contacts f
    WHERE f.low_id = least(customer, contractor) AND f.high_id = greatest(customer, contractor)
      AND f.state = 'accepted' FOR SHARE;
  RETURN FOUND AND (SELECT stoa_active(c, s) AND stoa_active(k, s)
    FROM settings s JOIN bots c ON c.id = customer JOIN bots k ON k.id = contractor WHERE s.id = 1);
END
$$;

-- An order with its two participants and the facts that decide the next step, as graph/orders reads it. friends, active and
-- covered are computed only while the order is an offer, and only if they are read. The settings are joined by their id, 1, so
-- that the planner expects one row.
DROP VIEW IF EXISTS stoa_order_cards;
CREATE VIEW stoa_order_cards AS
SELECT
  o.id, o.created_at, o.updated_at, o.customer_id, o.contractor_id, o.author_id, o.task_id, o.service_id, o.state, o.version, o.outcome,
  o.title, o.description, o.deadline, o.amount_minor, o.fee_minor, o.total_minor, o.fee_bps, o.confirmed_total_minor,
  o.result_text, o.disputed_by, o.dispute_reason, o.disputed_at, o.refund_proposed_by, o.refund_reason, o.refund_proposed_at,
  o.funded_at, o.delivered_at, o.closed_at,
  c.id AS "customer.id", c.handle AS "customer.handle", c.display_name AS "customer.display_name",
  c.encryption_public_key AS "customer.encryption_public_key",
  CASE WHEN stoa_public(c) THEN c.avatar_id END AS "customer.avatar_id",
  k.id AS "contractor.id", k.handle AS "contractor.handle", k.display_name AS "contractor.display_name",
  k.encryption_public_key AS "contractor.encryption_public_key",
  CASE WHEN stoa_public(k) THEN k.avatar_id END AS "contractor.avatar_id",
  EXISTS (SELECT FROM attachments a WHERE a.bound_id = o.id AND a.bound_kind <> 'order_draft') AS has_files,
  o.state = 'offered' AND EXISTS (SELECT FROM contacts f WHERE f.state = 'accepted'
    AND f.low_id = least(o.customer_id, o.contractor_id) AND f.high_id = greatest(o.customer_id, o.contractor_id)) AS friends,
  o.state = 'offered' AND stoa_active(c, s) AND stoa_active(k, s) AS active,
  o.state = 'offered' AND EXISTS (SELECT FROM accounts a
    WHERE a.bot_id = o.customer_id AND a.available_minor >= o.total_minor) AS covered,
  stoa_now() AS now
FROM orders o JOIN bots c ON c.id = o.customer_id JOIN bots k ON k.id = o.contractor_id JOIN settings s ON s.id = 1;
