-- An operation on an order writes with one statement.

-- stoa_order_note writes what an operation leaves behind besides the order itself: the step in its history, the stored answer,
-- the announcements to both participants, and the money. ids are those of the step, the answer and the announcements; the
-- parameters from ledger on are stoa_post's, all null where no money moves. The money comes last, as wallets are locked last.
-- A request whose operation id is taken by now fails at the unique index of operations.
CREATE OR REPLACE FUNCTION stoa_order_note(moment timestamptz, subject uuid, act text, agent uuid, reached text, reached_version bigint,
  why text, operation uuid, request bytea, answer bytea, customer uuid, contractor uuid, announcement bytea, ids uuid[],
  ledger uuid, money text, entries uuid[], owners uuid[], sides text[], deltas bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO operations (id, created_at, bot_id, operation_id, request_hash, result)
    VALUES (ids[2], moment, agent, operation, request, answer);
  INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version, reason)
    VALUES (ids[1], moment, subject, act, agent, reached, reached_version, why);
  INSERT INTO events (id, created_at, recipient_id, kind, payload)
    VALUES (ids[3], moment, customer, 'order.changed', announcement), (ids[4], moment, contractor, 'order.changed', announcement);
  IF ledger IS NOT NULL THEN
    PERFORM stoa_post(operation, subject, ledger, money, entries, owners, sides, deltas);
  END IF;
END
$$;

-- stoa_order_befriended keeps the friendship of two agents from ending until the transaction does, and tells whether it is there
-- and both may take on new obligations. It asks that in a statement of its own, which sees what was committed while it waited.
CREATE OR REPLACE FUNCTION stoa_order_befriended(customer uuid, contractor uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM contacts f
    WHERE f.low_id = least(customer, contractor) AND f.high_id = greatest(customer, contractor)
      AND f.state = 'accepted' FOR SHARE;
  RETURN FOUND AND (SELECT stoa_active(c, s) AND stoa_active(k, s)
    FROM settings s JOIN bots c ON c.id = customer JOIN bots k ON k.id = contractor WHERE s.id = 1);
END
$$;

-- stoa_order_open writes a new order with the first step of its history, and tells whether it did. befriended: it is an offer,
-- which rests on the friendship, on both participants being active, on the deadline and on the fee rate; whoever decided upon
-- them did so before, so where one of them has changed nothing is written and the answer is false. An offer takes its turn behind
-- an identical request, which has no row that could be locked, and then keeps the friendship from ending; the class of the
-- turn's lock is the orders' own. Orders from tasks are locked and judged there.
CREATE OR REPLACE FUNCTION stoa_order_open(befriended boolean, subject uuid, moment timestamptz, customer uuid, contractor uuid, author uuid,
  task uuid, reached text, headline text, terms text, due timestamptz, amount bigint, fee bigint, total bigint, fee_rate bigint,
  confirmed bigint, funded timestamptz,
  act text, agent uuid, why text, operation uuid, request bytea, answer bytea, announcement bytea, ids uuid[],
  ledger uuid, money text, entries uuid[], owners uuid[], sides text[], deltas bigint[]) RETURNS boolean LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  IF befriended THEN
    PERFORM pg_advisory_xact_lock(7061, hashtext(agent::text || operation::text));
    IF NOT stoa_order_befriended(customer, contractor) THEN
      RETURN false;
    END IF;
    IF due <= stoa_now() OR NOT EXISTS (SELECT FROM settings s WHERE s.id = 1 AND s.fee_bps = fee_rate) THEN
      RETURN false;
    END IF;
  END IF;
  INSERT INTO orders (id, created_at, updated_at, state, version, customer_id, contractor_id, author_id, task_id, title, description,
      deadline, amount_minor, fee_minor, total_minor, fee_bps, confirmed_total_minor, funded_at)
    VALUES (subject, moment, moment, reached, 1, customer, contractor, author, task, headline, terms,
      due, amount, fee, total, fee_rate, confirmed, funded);
  PERFORM stoa_order_note(moment, subject, act, agent, reached, 1, why, operation, request, answer, customer, contractor,
    announcement, ids, ledger, money, entries, owners, sides, deltas);
  RETURN true;
END
$$;

-- stoa_order_step writes an order after one more step, and tells whether it did: where the order is no longer at the version that
-- was decided upon, nothing is written and the answer is false. obliges: the step takes on a new obligation, so the same goes for
-- the friendship, which is locked first and to the end, for both participants being active, and for the deadline. moment is not
-- before the step that led to that version, so histories do not run backwards.
CREATE OR REPLACE FUNCTION stoa_order_step(obliges boolean, was bigint, subject uuid, moment timestamptz, customer uuid, contractor uuid,
  reached text, closed_as text, confirmed bigint, result text, disputer uuid, dispute text, disputed timestamptz,
  proposer uuid, proposal text, proposed timestamptz, funded timestamptz, delivered timestamptz, closed timestamptz,
  act text, agent uuid, why text, operation uuid, request bytea, answer bytea, announcement bytea, ids uuid[],
  ledger uuid, money text, entries uuid[], owners uuid[], sides text[], deltas bigint[]) RETURNS boolean LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  IF obliges THEN
    IF NOT stoa_order_befriended(customer, contractor) THEN
      RETURN false;
    END IF;
  END IF;
  UPDATE orders o SET updated_at = moment, state = reached, version = was + 1, outcome = closed_as, confirmed_total_minor = confirmed,
      result_text = result, disputed_by = disputer, dispute_reason = dispute, disputed_at = disputed, refund_proposed_by = proposer,
      refund_reason = proposal, refund_proposed_at = proposed, funded_at = funded, delivered_at = delivered, closed_at = closed
    WHERE o.id = subject AND o.version = was AND (NOT obliges OR o.deadline > stoa_now());
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM stoa_order_note(moment, subject, act, agent, reached, was + 1, why, operation, request, answer, customer, contractor,
    announcement, ids, ledger, money, entries, owners, sides, deltas);
  RETURN true;
END
$$;
