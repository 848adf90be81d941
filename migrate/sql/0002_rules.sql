-- The database clock, the settings row, request windows, and what no writer may break.

-- +goose Up

-- Every decision about time asks stoa_now(). It is the transaction's start, moved by a session setting that only tests set.
-- +goose StatementBegin
CREATE FUNCTION stoa_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT now() + coalesce(nullif(current_setting('stoa.clock_shift', true), ''), '0')::interval
$$;
-- +goose StatementEnd

INSERT INTO settings (id, updated_at) VALUES (1, stoa_now());
ALTER TABLE settings
  ADD CONSTRAINT settings_single_row CHECK (id = 1),
  ADD CONSTRAINT settings_fee_range CHECK (fee_bps BETWEEN 0 AND 10000);

ALTER TABLE bots
  ADD CONSTRAINT bots_key_size CHECK (octet_length(encryption_public_key) = 32),
  ADD CONSTRAINT bots_state CHECK (state IN ('active', 'trash', 'deleted'));
ALTER TABLE contacts
  ADD CONSTRAINT contacts_pair CHECK (low_id < high_id AND low_id = least(requester_id, recipient_id) AND high_id = greatest(requester_id, recipient_id)),
  ADD CONSTRAINT contacts_state CHECK (state IN ('pending', 'accepted', 'blocked')),
  ADD CONSTRAINT contacts_accepted_at CHECK (state <> 'accepted' OR accepted_at IS NOT NULL),
  ADD CONSTRAINT contacts_blocked_by CHECK ((state = 'blocked') = (blocked_by IS NOT NULL));
ALTER TABLE invitations ADD CONSTRAINT invitations_used_range CHECK (used BETWEEN 0 AND uses);

ALTER TABLE accounts
  ADD CONSTRAINT accounts_available_not_negative CHECK (available_minor >= 0),
  ADD CONSTRAINT accounts_reserved_not_negative CHECK (reserved_minor >= 0);
ALTER TABLE ledger_entries
  ADD CONSTRAINT ledger_entries_delta CHECK (delta_minor <> 0),
  ADD CONSTRAINT ledger_entries_kind CHECK (kind IN ('grant', 'reward', 'top_up', 'reserve', 'payment', 'refund')),
  ADD CONSTRAINT ledger_entries_side CHECK (CASE account_kind
    WHEN 'available' THEN bot_id IS NOT NULL AND number IS NOT NULL
    WHEN 'reserved' THEN bot_id IS NOT NULL AND number IS NOT NULL
    WHEN 'issuance' THEN bot_id IS NULL AND number IS NULL
    WHEN 'fees' THEN bot_id IS NULL AND number IS NULL
    ELSE false END);
-- The starting grant comes once per passport.
CREATE UNIQUE INDEX ledger_entries_one_grant ON ledger_entries (bot_id) WHERE kind = 'grant' AND bot_id IS NOT NULL;

ALTER TABLE orders
  ADD CONSTRAINT orders_two_parties CHECK (customer_id <> contractor_id AND author_id IN (customer_id, contractor_id)),
  ADD CONSTRAINT orders_state CHECK (state IN ('offered', 'funded', 'in_progress', 'delivered', 'disputed', 'closed', 'cancelled', 'rejected')),
  ADD CONSTRAINT orders_outcome CHECK ((state = 'closed') = (outcome IS NOT NULL)),
  ADD CONSTRAINT orders_total CHECK (amount_minor >= 1 AND fee_minor >= 0 AND total_minor = amount_minor + fee_minor AND total_minor <= 1000000000000);

-- Rows that change often keep room on their page, so that an update stays on it and touches no index.
ALTER TABLE bots SET (fillfactor = 85);
ALTER TABLE accounts SET (fillfactor = 70);
ALTER TABLE orders SET (fillfactor = 70);
ALTER TABLE contacts SET (fillfactor = 90);

-- One row counts what one subject did under one limit: 60 counts in a ring, one for each sixtieth of the limit's span.
-- newest is the number of the sixtieth that was counted last, total the sum of the counts.
-- Losing the rows in a crash costs nothing but a fresh span.
CREATE UNLOGGED TABLE rate_windows (
  name text NOT NULL,
  subject text NOT NULL,
  taken_at timestamptz NOT NULL,
  newest bigint NOT NULL,
  total integer NOT NULL,
  counts integer[] NOT NULL,
  PRIMARY KEY (name, subject)
) WITH (fillfactor = 50);

-- stoa_take counts one act of a subject against a limit of quota acts per span and tells whether it is allowed: whoever keeps
-- to the quota in every span is never refused, and no span but its last sixtieth holds more. A refused act is not counted.
-- remaining: acts still allowed at once; reset_after: seconds until the whole quota is there again, or, when refused, until
-- one act is. A quota of 0 is no limit.
-- +goose StatementBegin
CREATE FUNCTION stoa_take(limit_name text, limit_subject text, quota integer, span interval,
  OUT allowed boolean, OUT remaining integer, OUT reset_after double precision) LANGUAGE plpgsql AS $$
DECLARE
  slots CONSTANT integer := 60;
  slot double precision := extract(epoch FROM span) / slots;
  present double precision := extract(epoch FROM stoa_now());
  now_slot bigint := floor(present / slot);
  oldest bigint;
  w rate_windows;
BEGIN
  allowed := true;
  remaining := quota;
  reset_after := 0;
  IF quota = 0 THEN
    RETURN;
  END IF;
  LOOP
    SELECT * INTO w FROM rate_windows r WHERE r.name = limit_name AND r.subject = limit_subject FOR UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO rate_windows VALUES (limit_name, limit_subject, stoa_now(), now_slot, 0, array_fill(0, ARRAY[slots]))
      ON CONFLICT DO NOTHING;
  END LOOP;

  -- A transaction that began earlier counts as of the newest one. What has left the span since is forgotten.
  now_slot := greatest(now_slot, w.newest);
  IF w.total > 0 THEN
    FOR i IN greatest(w.newest + 1, now_slot - slots + 1)..now_slot LOOP
      w.total := w.total - w.counts[i % slots + 1];
      w.counts[i % slots + 1] := 0;
    END LOOP;
  END IF;

  IF w.total + 1 > quota THEN
    allowed := false;
    remaining := 0;
    oldest := now_slot - slots;
    WHILE w.total + 1 > quota LOOP
      oldest := oldest + 1;
      w.total := w.total - w.counts[oldest % slots + 1];
    END LOOP;
    reset_after := (oldest + slots) * slot - present;
    RETURN;
  END IF;
  w.counts[now_slot % slots + 1] := w.counts[now_slot % slots + 1] + 1;
  UPDATE rate_windows r SET taken_at = stoa_now(), newest = now_slot, total = w.total + 1, counts = w.counts
    WHERE r.name = limit_name AND r.subject = limit_subject;
  remaining := quota - w.total - 1;
  reset_after := (now_slot + slots) * slot - present;
END
$$;
-- +goose StatementEnd

-- Tables that are only ever added to.
-- +goose StatementBegin
CREATE FUNCTION stoa_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION stoa_refuse_change();
CREATE TRIGGER order_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON order_events
  FOR EACH STATEMENT EXECUTE FUNCTION stoa_refuse_change();
CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION stoa_refuse_change();

-- All entries of a ledger transaction come in one statement and sum to zero.
-- +goose StatementBegin
CREATE FUNCTION stoa_require_balance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added GROUP BY transaction_id HAVING sum(delta_minor) <> 0) THEN
    RAISE EXCEPTION 'a ledger transaction does not sum to zero' USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_entries_balanced';
  END IF;
  RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION stoa_require_balance();

-- An agent may take on new obligations while it is active, not suspended, and not restricted for want of a verified owner
-- email 14 days after an operator activated that requirement.
-- +goose StatementBegin
CREATE FUNCTION stoa_active(b bots) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT b.state = 'active' AND b.suspended_at IS NULL AND (b.email_verified_at IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM settings WHERE email_requirement_activated_at <= stoa_now() - interval '14 days'))
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION stoa_active(bots);
DROP TRIGGER ledger_entries_balanced ON ledger_entries;
DROP FUNCTION stoa_require_balance();
DROP TRIGGER audit_entries_append_only ON audit_entries;
DROP TRIGGER order_events_append_only ON order_events;
DROP TRIGGER ledger_entries_append_only ON ledger_entries;
DROP FUNCTION stoa_refuse_change();
DROP FUNCTION stoa_take(text, text, integer, interval);
DROP TABLE rate_windows;
DROP FUNCTION stoa_now();
