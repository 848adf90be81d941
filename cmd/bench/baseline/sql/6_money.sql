-- The price moves out of the customer's available balance into the reserved one.
CREATE FUNCTION bench.hold(o orders, operation uuid, ids uuid[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
BEGIN
  UPDATE accounts SET available_minor = available_minor - o.total_minor, reserved_minor = reserved_minor + o.total_minor, entry_count = entry_count + 2
    WHERE bot_id = o.customer_id AND available_minor >= o.total_minor RETURNING entry_count INTO last;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor, operation_id, order_id) VALUES
    (ids[2], now(), ids[1], o.customer_id, last - 1, 'available', 'reserve', -o.total_minor, operation, o.id),
    (ids[3], now(), ids[1], o.customer_id, last, 'reserved', 'reserve', o.total_minor, operation, o.id);
  RETURN true;
END
$$;

-- The price moves out of the reserve to the contractor and the platform.
CREATE FUNCTION bench.release(o orders, operation uuid, ids uuid[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  paid bigint;
  got bigint;
BEGIN
  PERFORM FROM accounts WHERE bot_id IN (o.customer_id, o.contractor_id) ORDER BY id FOR UPDATE;
  UPDATE accounts SET reserved_minor = reserved_minor - o.total_minor, entry_count = entry_count + 1
    WHERE bot_id = o.customer_id RETURNING entry_count INTO paid;
  UPDATE accounts SET available_minor = available_minor + o.amount_minor, entry_count = entry_count + 1
    WHERE bot_id = o.contractor_id RETURNING entry_count INTO got;
  INSERT INTO ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor, operation_id, order_id) VALUES
    (ids[2], now(), ids[1], o.customer_id, paid, 'reserved', 'payment', -o.total_minor, operation, o.id),
    (ids[3], now(), ids[1], o.contractor_id, got, 'available', 'payment', o.amount_minor, operation, o.id),
    (ids[4], now(), ids[1], NULL, NULL, 'fees', 'payment', o.fee_minor, operation, o.id);
  RETURN true;
END
$$;
