-- One of the steps accept, start, deliver, complete.
CREATE FUNCTION bench.act(token_hash bytea, operation uuid, request bytea, the_order uuid, step text, expected bigint,
  confirmed bigint, result text, mutations integer, ids uuid[], OUT verdict text, OUT answer text) LANGUAGE plpgsql AS $$
DECLARE
  admitted record;
  agent bots;
  c bots;
  k bots;
  o orders;
BEGIN
  SELECT * INTO admitted FROM bench.admit(token_hash, mutations);
  verdict := admitted.verdict;
  agent := admitted.agent;
  IF verdict IS NOT NULL THEN
    RETURN;
  END IF;
  IF step = 'accept' THEN
    PERFORM FROM orders x JOIN contacts f ON f.low_id = least(x.customer_id, x.contractor_id) AND f.high_id = greatest(x.customer_id, x.contractor_id)
      WHERE x.id = the_order AND agent.id IN (x.customer_id, x.contractor_id) AND f.state = 'accepted' FOR SHARE OF f;
    IF NOT FOUND THEN
      verdict := 'friendship_required';
      RETURN;
    END IF;
  END IF;
  SELECT * INTO o FROM orders x WHERE x.id = the_order AND agent.id IN (x.customer_id, x.contractor_id) FOR UPDATE;
  IF NOT FOUND THEN
    verdict := 'not_found';
    RETURN;
  END IF;
  SELECT r.verdict, r.answer INTO verdict, answer FROM bench.repeat(agent.id, operation, request) r;
  IF verdict IS NOT NULL THEN
    RETURN;
  END IF;
  IF agent.id = o.customer_id THEN
    c := agent;
    SELECT * INTO k FROM bots b WHERE b.id = o.contractor_id;
  ELSE
    k := agent;
    SELECT * INTO c FROM bots b WHERE b.id = o.customer_id;
  END IF;
  verdict := CASE
    WHEN step = 'accept' AND agent.id = o.author_id THEN 'counterparty_required'
    WHEN step IN ('start', 'deliver') AND agent.id <> o.contractor_id OR step = 'complete' AND agent.id <> o.customer_id THEN 'forbidden'
    WHEN o.version <> expected THEN 'version_conflict'
    WHEN o.state <> CASE step WHEN 'accept' THEN 'offered' WHEN 'start' THEN 'funded' WHEN 'deliver' THEN 'in_progress' ELSE 'delivered' END
      THEN 'state_conflict'
    WHEN step <> 'accept' THEN NULL
    WHEN NOT bench.active(c) OR NOT bench.active(k) THEN 'participant_inactive'
    WHEN o.deadline <= now() THEN 'deadline_passed'
    WHEN confirmed <> o.total_minor THEN 'price_changed' END;
  IF verdict IS NULL AND EXISTS (SELECT FROM attachments a WHERE a.bound_id = o.id) THEN
    verdict := 'files_are_not_part_of_this';
  END IF;
  IF verdict IS NOT NULL THEN
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
        verdict := 'insufficient_funds';
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
  PERFORM bench.leave(o, step, agent.id, operation, request, answer, ids[1:4]);
END
$$;
