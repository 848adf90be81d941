-- The ledger of test credits. Only these functions write money.

-- All entries of a ledger transaction come in one statement and sum to zero.
CREATE OR REPLACE FUNCTION stoa_require_balance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added GROUP BY transaction_id HAVING sum(delta_minor) <> 0) THEN
    RAISE EXCEPTION 'a ledger transaction does not sum to zero'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_balanced';
  END IF;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION stoa_require_balance();

-- stoa_post writes a transaction of the ledger: it locks the agents' accounts in ascending id, moves the balances, gives each
-- agent's entries that agent's next numbers, and adds the entries in one INSERT. owners, sides and deltas are the postings, ids
-- their entries'; the platform's sides have no owner. It writes everything or nothing: a posting that breaks a rule of the ledger
-- raises the error of that rule's constraint.
CREATE OR REPLACE FUNCTION stoa_post(operation uuid, subject uuid, transaction uuid, reason text,
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
  INSERT INTO ledger_entries (id, transaction_id, kind, operation_id, order_id, bot_id, number, account_kind, delta_minor,
      created_at)
    SELECT p.id, transaction, reason, operation, subject, p.owner, p.number, p.side, p.delta, stoa_now()
    FROM unnest(ids, owners, numbers, sides, deltas) AS p (id, owner, number, side, delta);
END
$$;

-- stoa_open_wallet makes the wallet of a new agent with the starting grant in it, which is the first transaction of its ledger.
-- ids are the ids of the wallet, the transaction and its entries. No other transaction sees the wallet yet, so it locks nothing
-- and moves no balance: stoa_post would take a sixth of a registration's time for that. It writes everything or nothing, like
-- stoa_post.
CREATE OR REPLACE FUNCTION stoa_open_wallet(owner uuid, ids uuid[], amount bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
BEGIN
  INSERT INTO accounts (id, created_at, bot_id, available_minor, entry_count) VALUES (ids[1], moment, owner, amount, 1);
  INSERT INTO ledger_entries (id, created_at, transaction_id, kind, account_kind, bot_id, number, delta_minor)
    VALUES (ids[3], moment, ids[2], 'grant', 'issuance', NULL, NULL, -amount),
      (ids[4], moment, ids[2], 'grant', 'available', owner, 1, amount);
END
$$;
