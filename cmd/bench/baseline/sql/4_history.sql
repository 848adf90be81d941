-- What every step leaves behind: history, the stored answer, and an announcement to each participant. ids are new ones for the
-- four rows.
CREATE FUNCTION bench.leave(o orders, step text, caller uuid, operation uuid, request bytea, answer text, ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  payload bytea := convert_to(format('{"order_id":"%s","status":"%s","version":%s}', o.id, o.state, o.version), 'UTF8');
BEGIN
  INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version)
    VALUES (ids[1], o.updated_at, o.id, step, caller, o.state, o.version);
  INSERT INTO operations (id, created_at, bot_id, operation_id, request_hash, result)
    VALUES (ids[2], o.updated_at, caller, operation, request, convert_to(answer, 'UTF8'));
  INSERT INTO events (id, created_at, recipient_id, kind, payload)
    VALUES (ids[3], o.updated_at, o.customer_id, 'order.changed', payload), (ids[4], o.updated_at, o.contractor_id, 'order.changed', payload);
END
$$;

-- What is stored under an operation, or a verdict that the request is another.
CREATE FUNCTION bench.repeat(caller uuid, operation uuid, request bytea, OUT verdict text, OUT answer text) LANGUAGE plpgsql STABLE AS $$
BEGIN
  SELECT CASE WHEN p.request_hash <> request THEN 'idempotency_conflict' ELSE 'repeated' END, convert_from(p.result, 'UTF8')
    INTO verdict, answer FROM operations p WHERE p.bot_id = caller AND p.operation_id = operation;
END
$$;
