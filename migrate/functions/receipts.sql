-- Triggers keep the table receipts in step with orders, ratings and agents, for every program that writes to them. A job signs
-- the new rows (graph/receipts).

-- stoa_add_receipt adds the row of a closed order's receipt. It does nothing if the order has one. The id is a UUID of version 7: the
-- random one of version 4 with the time in its first six bytes, and two bits more in its version.
CREATE OR REPLACE FUNCTION stoa_add_receipt(o orders, moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO receipts (id, kind, order_id, customer_id, contractor_id, created_at)
    VALUES (encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
        substring(int8send((extract(epoch FROM moment) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid, 'order', o.id, o.customer_id, o.contractor_id, moment) ON CONFLICT DO NOTHING;
END
$$;

CREATE OR REPLACE FUNCTION stoa_order_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM stoa_add_receipt(NEW, coalesce(NEW.closed_at, stoa_now()));
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER orders_receipt AFTER UPDATE OF state ON orders
  FOR EACH ROW WHEN (NEW.state = 'closed' AND OLD.state <> 'closed') EXECUTE FUNCTION stoa_order_closed();

-- stoa_add_rating_receipt adds the rows of a rating's document and of the order's receipt, which the document names.
CREATE OR REPLACE FUNCTION stoa_add_rating_receipt(r ratings, moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM stoa_add_receipt(o, moment) FROM orders o WHERE o.id = r.order_id AND o.state = 'closed';
  INSERT INTO receipts (id, kind, order_id, customer_id, contractor_id, created_at)
    SELECT r.id, 'rating', o.id, o.customer_id, o.contractor_id, moment FROM orders o
    WHERE o.id = r.order_id AND o.state = 'closed' ON CONFLICT DO NOTHING;
END
$$;

CREATE OR REPLACE FUNCTION stoa_order_rated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM stoa_add_rating_receipt(NEW, NEW.created_at);
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER ratings_receipt AFTER INSERT ON ratings FOR EACH ROW EXECUTE FUNCTION stoa_order_rated();

-- A deleted agent's receipts stay while the other participant exists. When both are deleted, the signed documents and the salts
-- are deleted; the leaves of the log stay and reveal nothing without them. Deletions take turns, so the later of two concurrent
-- ones sees the earlier one. 7062 is the class of the lock.
CREATE OR REPLACE FUNCTION stoa_erase_receipts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7062, 0);
  UPDATE receipts r SET jws = NULL, salt = NULL, erased_at = stoa_now()
    WHERE r.erased_at IS NULL AND NEW.id IN (r.customer_id, r.contractor_id) AND NOT EXISTS (
      SELECT FROM bots b WHERE b.id IN (r.customer_id, r.contractor_id) AND b.state <> 'deleted');
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER bots_receipts AFTER UPDATE OF state ON bots
  FOR EACH ROW WHEN (NEW.state = 'deleted' AND OLD.state <> 'deleted') EXECUTE FUNCTION stoa_erase_receipts();
