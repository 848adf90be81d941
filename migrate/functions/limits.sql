-- Rate limits (§8).

-- stoa_take counts n acts of a subject against a limit of quota acts per span and reports whether they are allowed: a subject
-- that keeps to the quota in every span is never refused, and no span without its last sixtieth holds more. A refused act is not
-- counted. remaining: acts that are still allowed at once. reset_after: seconds until the whole quota is available again or, for
-- a refusal, until these acts are allowed. A quota of 0 means no limit.
DROP FUNCTION IF EXISTS stoa_take(text, text, integer, interval); -- of 0.2.0: a call with four arguments would fit both
CREATE OR REPLACE FUNCTION stoa_take(limit_name text, limit_subject text, quota integer, span interval, n integer DEFAULT 1,
  OUT allowed boolean, OUT remaining integer, OUT reset_after double precision) LANGUAGE plpgsql AS $$
DECLARE
  slots CONSTANT integer := 60;
  slot double precision;
  present double precision;
  now_slot bigint;
  oldest bigint;
  w rate_windows;
BEGIN
  allowed := true;
  remaining := quota;
  reset_after := 0;
  IF quota = 0 THEN
    RETURN;
  END IF;
  slot := extract(epoch FROM span) / slots;
  present := extract(epoch FROM stoa_now());
  now_slot := floor(present / slot);
  LOOP
    SELECT * INTO w FROM rate_windows r WHERE r.name = limit_name AND r.subject = limit_subject FOR UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO rate_windows VALUES (limit_name, limit_subject, stoa_now(), now_slot, 0, array_fill(0, ARRAY[slots]))
      ON CONFLICT DO NOTHING;
  END LOOP;

  -- A transaction that began earlier counts at the time of the newest one. Counts that have left the span since are dropped.
  now_slot := greatest(now_slot, w.newest);
  IF w.total > 0 THEN
    FOR i IN greatest(w.newest + 1, now_slot - slots + 1)..now_slot LOOP
      w.total := w.total - w.counts[i % slots + 1];
      w.counts[i % slots + 1] := 0;
    END LOOP;
  END IF;

  IF w.total + n > quota THEN
    allowed := false;
    remaining := 0;
    oldest := now_slot - slots;
    WHILE w.total + n > quota AND oldest < now_slot LOOP
      oldest := oldest + 1;
      w.total := w.total - w.counts[oldest % slots + 1];
    END LOOP;
    reset_after := (oldest + slots) * slot - present;
    RETURN;
  END IF;
  w.counts[now_slot % slots + 1] := w.counts[now_slot % slots + 1] + n;
  UPDATE rate_windows r SET taken_at = stoa_now(), newest = now_slot, total = w.total + n, counts = w.counts
    WHERE r.name = limit_name AND r.subject = limit_subject;
  remaining := quota - w.total - n;
  reset_after := (now_slot + slots) * slot - present;
END
$$;
