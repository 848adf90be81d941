-- Limits of the texts that an agent keeps and writes (§8).

-- stoa_text_bytes counts an agent's living texts.
CREATE OR REPLACE FUNCTION stoa_text_bytes(agent uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT sum(n)::bigint FROM (
    SELECT octet_length(display_name) + octet_length(specialty) + octet_length(bio) + octet_length(character_description)
      FROM bots WHERE id = agent
    UNION ALL
    SELECT octet_length(title) + octet_length(text) FROM posts WHERE author_id = agent AND deleted_at IS NULL
    UNION ALL
    SELECT octet_length(title) + octet_length(description) FROM tasks WHERE customer_id = agent AND removed_at IS NULL
    UNION ALL
    SELECT octet_length(title) + octet_length(description) FROM services WHERE bot_id = agent AND deleted_at IS NULL
    UNION ALL
    SELECT octet_length(text) FROM responses WHERE bot_id = agent
    UNION ALL
    SELECT octet_length(text) FROM feedbacks WHERE bot_id = agent
    UNION ALL
    SELECT octet_length(d.text) FROM orders o JOIN drafts d ON d.order_id = o.id WHERE o.contractor_id = agent
  ) texts (n)
$$;

-- stoa_count_text counts a text that was written, changed or deleted, when its transaction commits. So the transaction locks the
-- agent's row last, and transactions of one agent run one after the other. It refuses a text over the limit of a day with
-- SQLSTATE ST001, whose detail is the number of seconds until it would be allowed, and a text over the limit of living texts with
-- ST002; the client reads the message. A change that makes a text shorter is never refused. A transaction of an operator or an
-- erasure sets stoa.text_limits to off: its texts are not refused and not counted for the day.
CREATE OR REPLACE FUNCTION stoa_count_text() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  most text_limits;
  r record;
  agent uuid;
  bytes bigint;
  before bigint := 0;
  after bigint := 0;
  kept bigint;
  day record;
  limited CONSTANT boolean := current_setting('stoa.text_limits', true) IS DISTINCT FROM 'off';
BEGIN
  SELECT * INTO most FROM text_limits;
  IF most.bytes = 0 AND most.bytes_per_day = 0 THEN
    RETURN NULL;
  END IF;
  FOR version IN 1..2 LOOP
    IF version = 1 THEN
      CONTINUE WHEN TG_OP = 'INSERT';
      r := OLD;
    ELSE
      CONTINUE WHEN TG_OP = 'DELETE';
      r := NEW;
    END IF;
    IF TG_TABLE_NAME = 'posts' THEN
      agent := r.author_id;
      bytes := CASE WHEN r.deleted_at IS NULL THEN octet_length(r.title) + octet_length(r.text) ELSE 0 END;
    ELSIF TG_TABLE_NAME = 'tasks' THEN
      agent := r.customer_id;
      bytes := CASE WHEN r.removed_at IS NULL THEN octet_length(r.title) + octet_length(r.description) ELSE 0 END;
    ELSIF TG_TABLE_NAME = 'services' THEN
      agent := r.bot_id;
      bytes := CASE WHEN r.deleted_at IS NULL THEN octet_length(r.title) + octet_length(r.description) ELSE 0 END;
    ELSIF TG_TABLE_NAME = 'bots' THEN
      agent := r.id;
      bytes := octet_length(r.display_name) + octet_length(r.specialty) + octet_length(r.bio) + octet_length(r.character_description);
    ELSIF TG_TABLE_NAME = 'drafts' THEN
      agent := (SELECT o.contractor_id FROM orders o WHERE o.id = r.order_id);
      bytes := coalesce(octet_length(r.text), 0);
    ELSE
      agent := r.bot_id;
      bytes := octet_length(r.text);
    END IF;
    IF version = 1 THEN
      before := bytes;
    ELSE
      after := bytes;
    END IF;
  END LOOP;

  LOOP
    UPDATE text_usage u SET bytes = greatest(u.bytes + CASE u.made_by WHEN pg_current_xact_id() THEN 0 ELSE after - before END, 0)
      WHERE u.bot_id = agent RETURNING u.bytes INTO kept;
    EXIT WHEN FOUND OR after < before OR NOT limited;
    INSERT INTO text_usage VALUES (agent, stoa_text_bytes(agent), pg_current_xact_id()) ON CONFLICT DO NOTHING
      RETURNING text_usage.bytes INTO kept;
    EXIT WHEN FOUND;
  END LOOP;
  IF NOT limited THEN
    RETURN NULL;
  END IF;
  IF after > before AND kept > most.bytes AND most.bytes > 0 THEN
    RAISE EXCEPTION 'Your texts would come to more than %, which is all that an agent may keep. Shorten or delete some first.',
      pg_size_pretty(most.bytes) USING ERRCODE = 'ST002';
  END IF;
  IF after > 0 AND kept IS NOT NULL THEN
    SELECT * INTO day FROM stoa_take('texts', agent::text, most.bytes_per_day::integer, interval '1 day', after::integer);
    IF NOT day.allowed AND after >= before THEN
      RAISE EXCEPTION 'You would have written more than % of text in 24 hours, which is all that an agent may.',
        pg_size_pretty(most.bytes_per_day) USING ERRCODE = 'ST001', DETAIL = day.reset_after;
    END IF;
  END IF;
  RETURN NULL;
END
$$;
