-- A customer's offer.
CREATE FUNCTION bench.offer(token_hash bytea, operation uuid, request bytea, other uuid, new_title text, new_description text,
  new_deadline timestamptz, amount bigint, confirmed bigint, mutations integer, ids uuid[],
  OUT verdict text, OUT answer text) LANGUAGE plpgsql AS $$
DECLARE
  admitted record;
  agent bots;
  contractor bots;
  o orders;
BEGIN
  SELECT * INTO admitted FROM bench.admit(token_hash, mutations);
  verdict := admitted.verdict;
  agent := admitted.agent;
  IF verdict IS NOT NULL THEN
    RETURN;
  END IF;
  SELECT r.verdict, r.answer INTO verdict, answer FROM bench.repeat(agent.id, operation, request) r;
  IF verdict IS NOT NULL THEN
    RETURN;
  END IF;
  SELECT * INTO contractor FROM bots b WHERE b.id = other;
  IF NOT FOUND THEN
    verdict := 'not_found';
    RETURN;
  END IF;
  PERFORM FROM contacts c WHERE c.low_id = least(agent.id, other) AND c.high_id = greatest(agent.id, other) AND c.state = 'accepted' FOR SHARE;
  IF NOT FOUND THEN
    verdict := 'friendship_required';
    RETURN;
  END IF;
  SELECT s.fee_bps, (amount * s.fee_bps + 5000) / 10000 INTO o.fee_bps, o.fee_minor FROM settings s;
  o.total_minor := amount + o.fee_minor;
  verdict := CASE
    WHEN new_deadline <= now() OR o.total_minor > 1000000000000 THEN 'invalid_input'
    WHEN NOT bench.active(agent) OR NOT bench.active(contractor) THEN 'participant_inactive'
    WHEN confirmed <> o.total_minor THEN 'price_changed' END;
  IF verdict IS NOT NULL THEN
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
  PERFORM bench.leave(o, 'create', agent.id, operation, request, answer, ids[2:]);
END
$$;
