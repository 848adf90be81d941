-- Locks of orders.

-- stoa_order_befriended keeps the friendship of two agents from ending until the transaction does, and reports whether it is
-- there and both may take on new obligations. It asks that in its own statement, which sees what was committed while it waited.
CREATE OR REPLACE FUNCTION stoa_order_befriended(customer uuid, contractor uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM contacts f
    WHERE f.low_id = least(customer, contractor) AND f.high_id = greatest(customer, contractor)
      AND f.state = 'accepted' FOR SHARE;
  RETURN FOUND AND (SELECT stoa_active(c, s) AND stoa_active(k, s)
    FROM settings s JOIN bots c ON c.id = customer JOIN bots k ON k.id = contractor WHERE s.id = 1);
END
$$;
