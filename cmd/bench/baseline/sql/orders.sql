-- An agent within a card, as JSON.
CREATE FUNCTION bench.brief(b bots) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN format('{"id":"%s","handle":"%s","display_name":%s,"encryption_public_key":"%s",'
    '"encryption_key_fingerprint":"SHA256:%s","avatar_url":%s}',
    b.id, b.handle, to_json(b.display_name), encode(b.encryption_public_key, 'base64'),
    rtrim(encode(sha256(b.encryption_public_key), 'base64'), '='),
    CASE WHEN b.avatar_id IS NULL OR NOT (b.profile_public AND b.state = 'active' AND b.suspended_at IS NULL) THEN 'null'
      ELSE format('"/api/v1/attachments/%s/preview"', b.avatar_id) END);
END
$$;

-- One entry of actions.
CREATE FUNCTION bench.action(o orders, name text, extra text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN format('{"name":"%s","method":"POST","path":"/api/v1/orders/%s/%s",'
    '"body":{%s"expected_version":%s,"operation_id":null%s}}',
    name, o.id, name, CASE WHEN name = 'accept' THEN extra ELSE '' END, o.version,
    CASE WHEN name <> 'accept' THEN extra ELSE '' END);
END
$$;

-- The actions that the caller may take on the order.
CREATE FUNCTION bench.actions(o orders, caller uuid, acceptable boolean) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN concat_ws(',',
    CASE WHEN o.state = 'offered' AND caller <> o.author_id AND acceptable THEN bench.action(o, 'accept',
      CASE WHEN caller = o.customer_id THEN format('"confirmed_total_minor":%s,', o.total_minor) ELSE '' END) END,
    CASE WHEN o.state = 'offered' AND caller <> o.author_id THEN bench.action(o, 'reject', '') END,
    CASE WHEN o.state = 'offered' AND caller = o.author_id THEN bench.action(o, 'cancel', '') END,
    CASE WHEN o.state = 'funded' AND caller = o.contractor_id THEN bench.action(o, 'start', '') END,
    CASE WHEN o.state = 'in_progress' AND caller = o.contractor_id THEN bench.action(o, 'deliver', ',"result_text":null') END,
    CASE WHEN o.state = 'delivered' AND caller = o.customer_id THEN bench.action(o, 'complete', '') END,
    CASE WHEN o.state IN ('funded', 'in_progress', 'delivered') THEN bench.action(o, 'dispute', ',"reason":null') END,
    CASE WHEN o.state IN ('funded', 'in_progress', 'delivered', 'disputed') AND o.refund_proposed_by IS NULL
      THEN bench.action(o, 'propose-refund', ',"reason":null') END,
    CASE WHEN o.state = 'disputed' AND o.refund_proposed_by <> caller THEN bench.action(o, 'approve-refund', '') END);
END
$$;

-- The order's card for the caller, as JSON; c and k are the customer and the contractor.
CREATE FUNCTION bench.card(o orders, c bots, k bots, caller uuid, acceptable boolean) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN format('{"order":{"id":"%s","state":"%s","version":%s,"title":%s,"description":%s,"deadline":"%s",'
    '"amount_minor":%s,"fee_minor":%s,"total_minor":%s,"fee_mode":"on_top","fee_bps":%s,'
    '"input_attachments":[],"result_attachments":[],'
    '"outcome":%s,"customer_id":"%s","contractor_id":"%s","author_id":"%s","customer":%s,"contractor":%s,"role":"%s",',
    o.id, o.state, o.version, to_json(o.title), to_json(o.description), bench.time_text(o.deadline),
    o.amount_minor, o.fee_minor, o.total_minor, o.fee_bps,
    coalesce('"' || o.outcome || '"', 'null'), o.customer_id, o.contractor_id, o.author_id, bench.brief(c), bench.brief(k),
    CASE WHEN caller = o.customer_id THEN 'customer' ELSE 'contractor' END) ||
  format('"confirmed_total_minor":%s,"result_text":%s,"dispute":%s,"refund_proposal":%s,"task_id":%s,'
    '"created_at":%s,"updated_at":%s,'
    '"funded_at":%s,"delivered_at":%s,"closed_at":%s,"actions":[%s]}}',
    coalesce(o.confirmed_total_minor::text, 'null'), coalesce(to_json(o.result_text)::text, 'null'),
    CASE WHEN o.disputed_by IS NULL THEN 'null' ELSE format('{"opened_by":"%s","reason":%s,"created_at":%s}',
      o.disputed_by, to_json(o.dispute_reason), bench.quoted_time(o.disputed_at)) END,
    CASE WHEN o.refund_proposed_by IS NULL THEN 'null' ELSE format('{"proposed_by":"%s","reason":%s,"created_at":%s}',
      o.refund_proposed_by, to_json(o.refund_reason), bench.quoted_time(o.refund_proposed_at)) END,
    coalesce('"' || o.task_id || '"', 'null'), bench.quoted_time(o.created_at), bench.quoted_time(o.updated_at),
    bench.quoted_time(o.funded_at), bench.quoted_time(o.delivered_at), bench.quoted_time(o.closed_at),
    bench.actions(o, caller, acceptable));
END
$$;

-- Writes what every step adds: the order's history, the stored result, and an event for each participant. ids are new ids for the
-- four rows.
CREATE FUNCTION bench.record(o orders, step text, caller uuid, operation uuid, request bytea, answer text, ids uuid[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  payload bytea := convert_to(format('{"order_id":"%s","status":"%s","version":%s}', o.id, o.state, o.version), 'UTF8');
BEGIN
  INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version)
    VALUES (ids[1], o.updated_at, o.id, step, caller, o.state, o.version);
  INSERT INTO operations (id, created_at, bot_id, operation_id, request_hash, result)
    VALUES (ids[2], o.updated_at, caller, operation, request, convert_to(answer, 'UTF8'));
  INSERT INTO events (id, created_at, recipient_id, kind, payload)
    VALUES (ids[3], o.updated_at, o.customer_id, 'order.changed', payload),
      (ids[4], o.updated_at, o.contractor_id, 'order.changed', payload);
END
$$;

-- The result stored for an operation id, with the fault repeated, or idempotency_conflict for another request.
CREATE FUNCTION bench.stored_result(caller uuid, operation uuid, request bytea, OUT fault text, OUT answer text)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  SELECT CASE WHEN p.request_hash <> request THEN 'idempotency_conflict' ELSE 'repeated' END, convert_from(p.result, 'UTF8')
    INTO fault, answer FROM operations p WHERE p.bot_id = caller AND p.operation_id = operation;
END
$$;

-- Moves the total from the customer's available balance to the reserved one; false if it does not suffice.
CREATE FUNCTION bench.hold(o orders, operation uuid, ids uuid[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
BEGIN
  UPDATE accounts
    SET available_minor = available_minor - o.total_minor, reserved_minor = reserved_minor + o.total_minor,
      entry_count = entry_count + 2
    WHERE bot_id = o.customer_id AND available_minor >= o.total_minor RETURNING entry_count INTO last;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO ledger_entries
    (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor, operation_id, order_id) VALUES
    (ids[2], now(), ids[1], o.customer_id, last - 1, 'available', 'reserve', -o.total_minor, operation, o.id),
    (ids[3], now(), ids[1], o.customer_id, last, 'reserved', 'reserve', o.total_minor, operation, o.id);
  RETURN true;
END
$$;

-- Pays the contractor and the platform from the customer's reserved balance.
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
  INSERT INTO ledger_entries
    (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor, operation_id, order_id) VALUES
    (ids[2], now(), ids[1], o.customer_id, paid, 'reserved', 'payment', -o.total_minor, operation, o.id),
    (ids[3], now(), ids[1], o.contractor_id, got, 'available', 'payment', o.amount_minor, operation, o.id),
    (ids[4], now(), ids[1], NULL, NULL, 'fees', 'payment', o.fee_minor, operation, o.id);
  RETURN true;
END
$$;

-- Creates an order as its customer.
CREATE FUNCTION bench.create_order(token_hash bytea, operation uuid, request bytea, other uuid, new_title text,
  new_description text, new_deadline timestamptz, amount bigint, confirmed bigint, ids uuid[],
  OUT fault text, OUT answer text) LANGUAGE plpgsql AS $$
DECLARE
  authenticated record;
  agent bots;
  contractor bots;
  o orders;
BEGIN
  SELECT * INTO authenticated FROM bench.authenticate(token_hash);
  fault := authenticated.fault;
  agent := authenticated.agent;
  IF fault IS NOT NULL THEN
    RETURN;
  END IF;
  SELECT r.fault, r.answer INTO fault, answer FROM bench.stored_result(agent.id, operation, request) r;
  IF fault IS NOT NULL THEN
    RETURN;
  END IF;
  SELECT * INTO contractor FROM bots b WHERE b.id = other;
  IF NOT FOUND THEN
    fault := 'not_found';
    RETURN;
  END IF;
  PERFORM FROM contacts c
    WHERE c.low_id = least(agent.id, other) AND c.high_id = greatest(agent.id, other) AND c.state = 'accepted' FOR SHARE;
  IF NOT FOUND THEN
    fault := 'friendship_required';
    RETURN;
  END IF;
  SELECT s.fee_bps, (amount * s.fee_bps + 5000) / 10000 INTO o.fee_bps, o.fee_minor FROM settings s;
  o.total_minor := amount + o.fee_minor;
  fault := CASE
    WHEN new_deadline <= now() OR o.total_minor > 1000000000000 THEN 'invalid_input'
    WHEN NOT bench.active(agent) OR NOT bench.active(contractor) THEN 'participant_inactive'
    WHEN confirmed <> o.total_minor THEN 'price_changed' END;
  IF fault IS NOT NULL THEN
    RETURN;
  END IF;
  o.id := ids[1];
  o.created_at := now();
  o.updated_at := o.created_at;
  o.author_id := agent.id;
  o.customer_id := agent.id;
  o.contractor_id := other;
  o.state := 'offered';
  o.version := 1;
  o.title := new_title;
  o.description := new_description;
  o.deadline := new_deadline;
  o.amount_minor := amount;
  o.confirmed_total_minor := confirmed;
  INSERT INTO orders VALUES (o.*);
  answer := bench.card(o, agent, contractor, agent.id, false);
  PERFORM bench.record(o, 'create', agent.id, operation, request, answer, ids[2:]);
END
$$;

-- Performs accept, start, deliver or complete.
CREATE FUNCTION bench.act(token_hash bytea, operation uuid, request bytea, the_order uuid, step text, expected bigint,
  confirmed bigint, result text, ids uuid[], OUT fault text, OUT answer text) LANGUAGE plpgsql AS $$
DECLARE
  authenticated record;
  agent bots;
  c bots;
  k bots;
  o orders;
BEGIN
  SELECT * INTO authenticated FROM bench.authenticate(token_hash);
  fault := authenticated.fault;
  agent := authenticated.agent;
  IF fault IS NOT NULL THEN
    RETURN;
  END IF;
  IF step = 'accept' THEN
    PERFORM FROM orders x
      JOIN contacts f ON f.low_id = least(x.customer_id, x.contractor_id) AND f.high_id = greatest(x.customer_id, x.contractor_id)
      WHERE x.id = the_order AND agent.id IN (x.customer_id, x.contractor_id) AND f.state = 'accepted' FOR SHARE OF f;
    IF NOT FOUND THEN
      fault := 'friendship_required';
      RETURN;
    END IF;
  END IF;
  SELECT * INTO o FROM orders x WHERE x.id = the_order AND agent.id IN (x.customer_id, x.contractor_id) FOR UPDATE;
  IF NOT FOUND THEN
    fault := 'not_found';
    RETURN;
  END IF;
  SELECT r.fault, r.answer INTO fault, answer FROM bench.stored_result(agent.id, operation, request) r;
  IF fault IS NOT NULL THEN
    RETURN;
  END IF;
  IF agent.id = o.customer_id THEN
    c := agent;
    SELECT * INTO k FROM bots b WHERE b.id = o.contractor_id;
  ELSE
    k := agent;
    SELECT * INTO c FROM bots b WHERE b.id = o.customer_id;
  END IF;
  fault := CASE
    WHEN step = 'accept' AND agent.id = o.author_id THEN 'counterparty_required'
    WHEN step IN ('start', 'deliver') AND agent.id <> o.contractor_id OR step = 'complete' AND agent.id <> o.customer_id
      THEN 'forbidden'
    WHEN o.version <> expected THEN 'version_conflict'
    WHEN o.state <> CASE step
      WHEN 'accept' THEN 'offered' WHEN 'start' THEN 'funded' WHEN 'deliver' THEN 'in_progress' ELSE 'delivered' END
      THEN 'state_conflict'
    WHEN step <> 'accept' THEN NULL
    WHEN NOT bench.active(c) OR NOT bench.active(k) THEN 'participant_inactive'
    WHEN o.deadline <= now() THEN 'deadline_passed'
    WHEN confirmed <> o.total_minor THEN 'price_changed' END;
  IF fault IS NULL AND EXISTS (SELECT FROM attachments a WHERE a.bound_id = o.id) THEN
    fault := 'files_are_not_part_of_this';
  END IF;
  IF fault IS NOT NULL THEN
    RETURN;
  END IF;
  o.updated_at := greatest(now(), o.updated_at);
  o.version := o.version + 1;
  CASE step
    WHEN 'accept' THEN
      o.state := 'funded';
      o.funded_at := o.updated_at;
      o.confirmed_total_minor := coalesce(confirmed, o.confirmed_total_minor);
      IF NOT bench.hold(o, operation, ids[5:]) THEN
        fault := 'insufficient_funds';
        RETURN;
      END IF;
    WHEN 'start' THEN
      o.state := 'in_progress';
    WHEN 'deliver' THEN
      o.state := 'delivered';
      o.result_text := result;
      o.delivered_at := o.updated_at;
    ELSE
      o.state := 'closed';
      o.outcome := 'accepted';
      o.closed_at := o.updated_at;
      PERFORM bench.release(o, operation, ids[5:]);
  END CASE;
  UPDATE orders SET updated_at = o.updated_at, state = o.state, version = o.version, outcome = o.outcome,
    confirmed_total_minor = o.confirmed_total_minor, result_text = o.result_text, funded_at = o.funded_at,
    delivered_at = o.delivered_at, closed_at = o.closed_at WHERE id = o.id;
  answer := bench.card(o, c, k, agent.id, false);
  PERFORM bench.record(o, step, agent.id, operation, request, answer, ids[1:4]);
END
$$;
