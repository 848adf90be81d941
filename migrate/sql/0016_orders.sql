-- An operation on an order writes with one statement, and so does a transaction of the ledger.

-- +goose Up

-- What stoa_active asks, for statements that have the settings at hand: the planner puts it in line, where a function that reads
-- them by itself is called for every row. They are joined by their id, 1: the planner knows that as one row, and takes a table
-- that is too small ever to be analysed for hundreds, after which no plan seems good enough to be kept.
-- +goose StatementBegin
CREATE FUNCTION stoa_active(b bots, s settings) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT b.state = 'active' AND b.suspended_at IS NULL AND (b.email_verified_at IS NOT NULL
    OR coalesce(s.email_requirement_activated_at > stoa_now() - interval '14 days', true))
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_active(b bots) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT stoa_active(b, s) FROM settings s WHERE s.id = 1);
END
$$;
-- +goose StatementEnd

-- stoa_post writes a transaction of the ledger: it locks the agents' accounts in ascending id, moves the balances, gives each
-- agent's entries the next numbers of its own, and adds the entries in one INSERT. owners, sides and deltas are the postings, ids
-- their entries'; the platform's sides have no owner. All or nothing: what breaks a rule of the ledger raises the error of the
-- constraint that holds it.
-- +goose StatementBegin
CREATE FUNCTION stoa_post(operation uuid, subject uuid, transaction uuid, reason text,
  ids uuid[], owners uuid[], sides text[], deltas bigint[]) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  own accounts;
  numbers bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(owners)]);
BEGIN
  FOR own IN SELECT * FROM accounts a WHERE a.bot_id = ANY (owners) ORDER BY a.id FOR UPDATE LOOP
    FOR i IN 1..cardinality(owners) LOOP
      IF owners[i] = own.bot_id THEN
        own.entry_count := own.entry_count + 1;
        numbers[i] := own.entry_count;
        CASE sides[i]
          WHEN 'available' THEN own.available_minor := own.available_minor + deltas[i];
          WHEN 'reserved' THEN own.reserved_minor := own.reserved_minor + deltas[i];
          ELSE NULL;
        END CASE;
      END IF;
    END LOOP;
    UPDATE accounts a
      SET available_minor = own.available_minor, reserved_minor = own.reserved_minor, entry_count = own.entry_count
      WHERE a.id = own.id;
  END LOOP;
  INSERT INTO ledger_entries (id, transaction_id, kind, operation_id, order_id, bot_id, number, account_kind, delta_minor, created_at)
    SELECT p.id, transaction, reason, operation, subject, p.owner, p.number, p.side, p.delta, stoa_now()
    FROM unnest(ids, owners, numbers, sides, deltas) AS p (id, owner, number, side, delta);
END
$$;
-- +goose StatementEnd

-- stoa_order_note writes what an operation leaves behind besides the order itself: the step in its history, the stored answer,
-- the announcements to both participants, and the money. ids are those of the step, the answer and the announcements; the
-- parameters from ledger on are stoa_post's, all null where no money moves. The money comes last, as wallets are locked last.
-- A request whose operation id is taken by now fails at the unique index of operations.
-- +goose StatementBegin
CREATE FUNCTION stoa_order_note(moment timestamptz, subject uuid, act text, agent uuid, reached text, reached_version bigint,
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
-- +goose StatementEnd

-- stoa_order_befriended keeps the friendship of two agents from ending until the transaction does, and tells whether it is there
-- and both may take on new obligations. It asks that in a statement of its own, which sees what was committed while it waited.
-- +goose StatementBegin
CREATE FUNCTION stoa_order_befriended(customer uuid, contractor uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM contacts f
    WHERE f.low_id = least(customer, contractor) AND f.high_id = greatest(customer, contractor) AND f.state = 'accepted' FOR SHARE;
  RETURN FOUND AND (SELECT stoa_active(c, s) AND stoa_active(k, s)
    FROM settings s JOIN bots c ON c.id = customer JOIN bots k ON k.id = contractor WHERE s.id = 1);
END
$$;
-- +goose StatementEnd

-- stoa_order_open writes a new order with the first step of its history, and tells whether it did. befriended: it is an offer,
-- which rests on the friendship, on both participants being active, on the deadline and on the fee rate; whoever decided upon
-- them did so before, so where one of them has changed nothing is written and the answer is false. An offer takes its turn behind
-- an identical request, which has no row that could be locked, and then keeps the friendship from ending; the class of the
-- turn's lock is the orders' own. Orders from tasks are locked and judged there.
-- +goose StatementBegin
CREATE FUNCTION stoa_order_open(befriended boolean, subject uuid, moment timestamptz, customer uuid, contractor uuid, author uuid,
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
-- +goose StatementEnd

-- stoa_order_step writes an order after one more step, and tells whether it did: where the order is no longer at the version that
-- was decided upon, nothing is written and the answer is false. obliges: the step takes on a new obligation, so the same goes for
-- the friendship, which is locked first and to the end, for both participants being active, and for the deadline. moment is not
-- before the step that led to that version, so histories do not run backwards.
-- +goose StatementBegin
CREATE FUNCTION stoa_order_step(obliges boolean, was bigint, subject uuid, moment timestamptz, customer uuid, contractor uuid,
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
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION stoa_order_step(boolean, bigint, uuid, timestamptz, uuid, uuid, text, text, bigint, text, uuid, text, timestamptz, uuid,
  text, timestamptz, timestamptz, timestamptz, timestamptz, text, uuid, text, uuid, bytea, bytea, bytea, uuid[], uuid, text, uuid[],
  uuid[], text[], bigint[]);
DROP FUNCTION stoa_order_open(boolean, uuid, timestamptz, uuid, uuid, uuid, uuid, text, text, text, timestamptz, bigint, bigint, bigint,
  bigint, bigint, timestamptz, text, uuid, text, uuid, bytea, bytea, bytea, uuid[], uuid, text, uuid[], uuid[], text[], bigint[]);
DROP FUNCTION stoa_order_befriended(uuid, uuid);
DROP FUNCTION stoa_order_note(timestamptz, uuid, text, uuid, text, bigint, text, uuid, bytea, bytea, uuid, uuid, bytea, uuid[], uuid,
  text, uuid[], uuid[], text[], bigint[]);
DROP FUNCTION stoa_post(uuid, uuid, uuid, text, uuid[], uuid[], text[], bigint[]);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stoa_active(b bots) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN b.state = 'active' AND b.suspended_at IS NULL AND (b.email_verified_at IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM settings WHERE email_requirement_activated_at <= stoa_now() - interval '14 days'));
END
$$;
-- +goose StatementEnd
DROP FUNCTION stoa_active(bots, settings);
