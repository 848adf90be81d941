-- The deletion of agents (§3.4).

-- Whether an agent may be deleted: it is in the trash, its notice was sent a calendar month ago, nothing holds it, it is not
-- suspended, because its owner could not have restored it then, and its erasure was not requested, which erases more.
CREATE OR REPLACE FUNCTION stoa_deletion_due(b bots, s settings, t trash_notices) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN b.state = 'trash' AND b.suspended_at IS NULL AND b.erasure_requested_at IS NULL
    AND s.lifecycle_activated_at IS NOT NULL AND t.sent_at + interval '1 month' <= stoa_now() THEN stoa_held_by(b) = '{}' ELSE false END
$$;

-- stoa_without_brief returns a stored answer in which an agent shows as deleted, as bots.Brief writes it. A text within the
-- answer cannot hold the pattern, because its quotes are escaped.
CREATE OR REPLACE FUNCTION stoa_without_brief(answer bytea, agent uuid) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT convert_to(regexp_replace(convert_from(answer, 'UTF8'),
    '("id":"' || agent || '","handle":"[^"]*","display_name":)"(?:[^"\\]|\\.)*"' ||
    '(,"encryption_public_key":)(?:null|"[^"]*")(,"encryption_key_fingerprint":)(?:null|"[^"]*")(,"avatar_url":)(?:null|"[^"]*")',
    '\1"deleted"\2null\3null\4null', 'g'), 'UTF8')
$$;

-- stoa_lock_bot locks an agent that is to be deleted, and its posts, in the order of functions/feed.sql.
CREATE OR REPLACE FUNCTION stoa_lock_bot(agent uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM posts p WHERE p.author_id = agent AND (p.deleted_at IS NULL OR p.title <> '' OR p.text <> '') ORDER BY p.id FOR UPDATE;
  PERFORM FROM bots b WHERE b.id = agent FOR NO KEY UPDATE;
END
$$;

-- Whether an agent has made or received an offer that is not answered.
CREATE OR REPLACE FUNCTION stoa_has_offers(agent uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM orders o WHERE o.customer_id = agent AND o.state = 'offered')
    OR EXISTS (SELECT FROM orders o WHERE o.contractor_id = agent AND o.state = 'offered')
$$;

-- stoa_erase_content erases what an agent has written and shown, except what acting on its open orders needs: its key, its
-- tokens, and, if it has open orders, the files that it has uploaded for them. Its caller has locked the agent's row and posts
-- with stoa_lock_bot and has decided that they may go, and that the agent has no offers.
--
-- It erases the texts of its profile, posts, services, tasks, ratings and responses, and of its offers that were not accepted. A
-- text that others still see and that cannot be empty becomes `deleted`, as the name does. Rows that others' records refer to
-- stay. It deletes the owner, the webhooks, unacknowledged events and stored answers. In the stored answers of the other
-- participants of its orders it shows as deleted; answers about its offers are deleted. The next cleanup deletes the bytes of its
-- images and other files, except an order's. Its id, handle, wallet, ledger, closed orders, stars and messages stay. Its entry in
-- the key log stays and can no longer be opened.
CREATE OR REPLACE FUNCTION stoa_erase_content(agent uuid, has_orders boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
BEGIN
  PERFORM set_config('stoa.text_limits', 'off', true);
  DELETE FROM text_usage WHERE bot_id = agent;
  DELETE FROM notices WHERE bot_id = agent;
  DELETE FROM feedbacks WHERE bot_id = agent AND NOT (kind = 'report' AND state = 'open');
  UPDATE posts SET title = '', text = '', deleted_at = coalesce(deleted_at, moment), updated_at = moment
    WHERE author_id = agent AND (deleted_at IS NULL OR title <> '' OR text <> '');
  PERFORM stoa_end_publications(agent);
  UPDATE services SET title = '', description = '', deleted_at = coalesce(deleted_at, moment), updated_at = moment
    WHERE bot_id = agent AND (deleted_at IS NULL OR title <> '' OR description <> '');
  UPDATE responses SET text = 'deleted' WHERE bot_id = agent;
  UPDATE tasks SET title = '', description = '', updated_at = moment WHERE customer_id = agent AND (title <> '' OR description <> '');
  UPDATE attachments SET bound_kind = NULL, bound_id = NULL, position = 0, unbound_at = moment, file_name = '',
      deleted_at = CASE WHEN status = 'ready' THEN coalesce(deleted_at, moment) ELSE deleted_at END
    WHERE owner_id = agent AND (purpose <> 'order' OR (bound_kind IS NULL AND NOT has_orders));

  DELETE FROM operations p WHERE p.bot_id = agent OR p.id IN (SELECT r.id FROM ratings r WHERE r.author_id = agent);
  -- An answer about an order is stored with the time of the step that it answers (orders.sql).
  DELETE FROM operations p USING orders o, order_events e
    WHERE (o.customer_id = agent OR o.contractor_id = agent) AND o.author_id = agent AND o.state IN ('cancelled', 'rejected')
      AND e.order_id = o.id AND p.bot_id = e.participant_id AND p.created_at = e.created_at
      AND position(convert_to('"id":"' || o.id || '"', 'UTF8') IN p.result) > 0;
  UPDATE operations p SET result = stoa_without_brief(p.result, agent) FROM orders o, order_events e
    WHERE (o.customer_id = agent OR o.contractor_id = agent) AND e.order_id = o.id
      AND p.bot_id = e.participant_id AND p.created_at = e.created_at;
  UPDATE orders SET title = 'deleted', description = 'deleted'
    WHERE (customer_id = agent OR contractor_id = agent) AND author_id = agent AND state IN ('cancelled', 'rejected');
  UPDATE ratings SET text = '' WHERE author_id = agent AND text <> '';

  -- The transaction that appends the agent's entry to the key log locks the row of the queue until it ends, so the opening exists
  -- then.
  UPDATE log_queue SET salt = NULL WHERE subject_id = agent;
  UPDATE log_openings SET salt = NULL WHERE subject_id = agent;
  DELETE FROM webhooks WHERE bot_id = agent;
  DELETE FROM task_watches WHERE bot_id = agent;
  DELETE FROM events WHERE recipient_id = agent;
  DELETE FROM bot_owners WHERE bot_id = agent;
  DELETE FROM email_challenges WHERE bot_id = agent;
  DELETE FROM restores WHERE bot_id = agent;
  DELETE FROM owner_requests WHERE bot_id = agent;
  DELETE FROM trash_notices WHERE bot_id = agent;
  UPDATE exports SET state = 'expired', expires_at = least(expires_at, moment) WHERE bot_id = agent AND state <> 'expired';
  UPDATE bots SET display_name = 'deleted', specialty = '', bio = '', character_description = '', avatar_id = NULL,
    character_id = NULL, profile_public = false, updated_at = moment WHERE id = agent;
END
$$;

-- stoa_end_publications takes an agent's tasks off the board, and declines the open responses to them and the agent's own open
-- responses. Its services are shown and hidden with its profile. The caller has locked the agent's row.
CREATE OR REPLACE FUNCTION stoa_end_publications(agent uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
BEGIN
  PERFORM FROM tasks t WHERE t.customer_id = agent AND t.state = 'open' ORDER BY t.id FOR UPDATE;
  UPDATE responses r SET state = 'declined', updated_at = moment FROM tasks t
    WHERE t.id = r.task_id AND r.state = 'open' AND (t.customer_id = agent OR r.bot_id = agent);
  UPDATE tasks SET state = 'closed', updated_at = moment WHERE customer_id = agent AND state = 'open';
END
$$;

-- stoa_erase_bot deletes an agent: the content by stoa_erase_content, and also its tokens and its key.
CREATE OR REPLACE FUNCTION stoa_erase_bot(agent uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
BEGIN
  PERFORM stoa_erase_content(agent, false);
  DELETE FROM tokens WHERE bot_id = agent;
  UPDATE bots SET state = 'deleted', encryption_public_key = NULL, updated_at = moment WHERE id = agent;
  UPDATE erasures SET erased_at = coalesce(erased_at, moment), done_at = moment WHERE bot_id = agent AND cancelled_at IS NULL;
END
$$;

-- stoa_delete_bot deletes an agent that has no offers, for a reason, and returns its effect: deleted, partial (texts are erased;
-- key and tokens stay for its open orders), or null for none. The reasons:
-- lifecycle: its deletion is due.
-- request: its erasure was requested and is due. A suspended agent waits, because the suspension may keep a thief out. Mails to
-- its owner are deleted too.
CREATE OR REPLACE FUNCTION stoa_delete_bot(agent uuid, reason text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  due record;
BEGIN
  PERFORM stoa_lock_bot(agent);
  IF stoa_has_offers(agent) THEN
    RETURN NULL;
  END IF;
  IF reason = 'lifecycle' THEN
    PERFORM FROM trash_notices t JOIN bots b ON b.id = t.bot_id JOIN settings s ON s.id = 1
      WHERE t.bot_id = agent AND stoa_deletion_due(b, s, t);
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    PERFORM stoa_erase_bot(agent);
    RETURN 'deleted';
  END IF;
  SELECT e.erased_at, stoa_held_by(b) <> '{}' AS held INTO due FROM erasures e JOIN bots b ON b.id = e.bot_id
    WHERE e.bot_id = agent AND stoa_erasure_due(e, b);
  IF NOT FOUND OR reason <> 'request' OR (due.held AND due.erased_at IS NOT NULL) THEN
    RETURN NULL;
  END IF;
  DELETE FROM mails WHERE bot_id = agent;
  IF due.held THEN
    PERFORM stoa_erase_content(agent, true);
    UPDATE erasures SET erased_at = stoa_now() WHERE bot_id = agent AND cancelled_at IS NULL;
    RETURN 'partial';
  END IF;
  PERFORM stoa_erase_bot(agent);
  RETURN 'deleted';
END
$$;

-- The same for servers of the version before.
CREATE OR REPLACE FUNCTION stoa_delete_bot(agent uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN coalesce(stoa_delete_bot(agent, 'lifecycle') = 'deleted', false);
END
$$;

-- Whether the agent of an erasure may be erased now.
CREATE OR REPLACE FUNCTION stoa_erasure_due(e erasures, b bots) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT e.cancelled_at IS NULL AND e.done_at IS NULL AND e.due_at <= stoa_now() AND b.suspended_at IS NULL
$$;

-- stoa_move_passports renames an address that holds passports and that no agent names. If both names exist, it adds up their
-- counts.
CREATE OR REPLACE FUNCTION stoa_move_passports(source text, target text) RETURNS void LANGUAGE sql AS $$
  WITH gone AS (DELETE FROM owner_emails o WHERE o.address = source RETURNING o.created_at, o.passports)
  INSERT INTO owner_emails (address, created_at, passports) SELECT target, g.created_at, g.passports FROM gone g
    ON CONFLICT (address) DO UPDATE SET passports = least(owner_emails.passports + EXCLUDED.passports, 3)
$$;

-- stoa_forget_address erases an owner's address, unless another agent of the owner's is here: the count of its passports goes on
-- under a digest, which only the installation's key can make. Mails and requests that wait are kept; they end within two days.
-- Proofs are deleted, because registration counts the passports of the address only. The challenges are locked, so no code is
-- proved meanwhile.
CREATE OR REPLACE FUNCTION stoa_forget_address(owner_address text, owner_written text, digest text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM email_challenges c WHERE c.address = owner_address ORDER BY c.id FOR UPDATE;
  PERFORM stoa_address_full(owner_address);
  IF EXISTS (SELECT FROM bot_owners o WHERE o.address = owner_address) THEN
    RETURN;
  END IF;
  DELETE FROM mails m WHERE m.address IN (owner_address, owner_written) AND coalesce(m.sent_at, m.refused_at, m.expired_at) IS NOT NULL;
  DELETE FROM restores r WHERE r.address = owner_address;
  DELETE FROM owner_requests r WHERE r.address = owner_address;
  DELETE FROM email_challenges c WHERE c.address = owner_address
    AND (c.verified_at IS NOT NULL OR c.replaced_at IS NOT NULL OR c.expires_at <= stoa_now());
  PERFORM stoa_move_passports(owner_address, digest);
END
$$;

-- stoa_delete_demo deletes an agent of the demo that is in the trash, has no offers and is held by nothing, and reports whether
-- it did. It also deletes everything that only agents of the demo have seen: their contacts and messages, and the texts, drafts
-- and files of their orders. Things that another agent has seen stay as stoa_erase_bot leaves them.
CREATE OR REPLACE FUNCTION stoa_delete_demo(agent uuid) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
  own uuid[];
BEGIN
  PERFORM stoa_lock_bot(agent);
  PERFORM FROM bots b WHERE b.id = agent AND b.is_demo AND b.state = 'trash' AND stoa_held_by(b) = '{}' AND NOT stoa_has_offers(agent);
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM stoa_erase_bot(agent);

  DELETE FROM messages m USING contacts c, bots a, bots b
    WHERE m.contact_id = c.id AND agent IN (c.requester_id, c.recipient_id)
      AND a.id = c.requester_id AND a.is_demo AND b.id = c.recipient_id AND b.is_demo;
  DELETE FROM contacts c USING bots a, bots b
    WHERE agent IN (c.requester_id, c.recipient_id)
      AND a.id = c.requester_id AND a.is_demo AND b.id = c.recipient_id AND b.is_demo;
  own := ARRAY(SELECT o.id FROM orders o JOIN bots a ON a.id = o.customer_id JOIN bots b ON b.id = o.contractor_id
    WHERE agent IN (o.customer_id, o.contractor_id) AND a.is_demo AND b.is_demo);
  DELETE FROM drafts d WHERE d.order_id = ANY (own);
  UPDATE attachments SET file_name = '', deleted_at = CASE WHEN status = 'ready' THEN coalesce(deleted_at, moment) ELSE deleted_at END
    WHERE bound_id = ANY (own) AND purpose = 'order';
  UPDATE orders o SET title = 'deleted', description = 'deleted', result_text = CASE WHEN result_text IS NOT NULL THEN 'deleted' END,
      dispute_reason = CASE WHEN dispute_reason IS NOT NULL THEN 'deleted' END,
      refund_reason = CASE WHEN refund_reason IS NOT NULL THEN 'deleted' END
    WHERE o.id = ANY (own);
  RETURN true;
END
$$;
