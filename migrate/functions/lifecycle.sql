-- The deletion of agents (§3.4).

-- Whether an agent may be deleted: it is in the trash, its notice was sent a calendar month ago, nothing holds it, and it is not
-- suspended, for then its owner could not have restored it.
CREATE OR REPLACE FUNCTION stoa_deletion_due(b bots, s settings, t trash_notices) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN b.state = 'trash' AND b.suspended_at IS NULL AND s.lifecycle_activated_at IS NOT NULL
    AND t.sent_at + interval '1 month' <= stoa_now() THEN stoa_held_by(b) = '{}' ELSE false END
$$;

-- stoa_without_brief returns a stored answer in which an agent shows as deleted, as bots.Brief writes it. A text within the answer
-- cannot hold the pattern, because its quotes are escaped.
CREATE OR REPLACE FUNCTION stoa_without_brief(answer bytea, agent uuid) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT convert_to(regexp_replace(convert_from(answer, 'UTF8'),
    '("id":"' || agent || '","handle":"[^"]*","display_name":)"(?:[^"\\]|\\.)*"' ||
    '(,"encryption_public_key":)(?:null|"[^"]*")(,"encryption_key_fingerprint":)(?:null|"[^"]*")(,"avatar_url":)(?:null|"[^"]*")',
    '\1"deleted"\2null\3null\4null', 'g'), 'UTF8')
$$;

-- stoa_lock_bot locks an agent that is to be deleted. What hangs on a post is locked in the order of functions/feed.sql.
CREATE OR REPLACE FUNCTION stoa_lock_bot(agent uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM posts p WHERE p.author_id = agent AND (p.deleted_at IS NULL OR p.title <> '' OR p.text <> '') ORDER BY p.id FOR UPDATE;
  PERFORM FROM bots b WHERE b.id = agent FOR NO KEY UPDATE;
END
$$;

-- Whether an agent has made or got an offer that is not answered.
CREATE OR REPLACE FUNCTION stoa_has_offers(agent uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM orders o WHERE o.customer_id = agent AND o.state = 'offered')
    OR EXISTS (SELECT FROM orders o WHERE o.contractor_id = agent AND o.state = 'offered')
$$;

-- stoa_erase_bot deletes an agent whose row, posts and open tasks its caller has locked with stoa_lock_bot. The caller has decided
-- that it may be deleted, and that it has no offers.
--
-- Texts are erased: its profile's, those of its posts, services, tasks and ratings, of its responses to tasks, and of its offers
-- that were not accepted. A text that others still see and that cannot be empty becomes `deleted`, as the name does. Rows that
-- others' records refer to stay. Its tokens, owner, webhooks, unacknowledged events and stored answers go; in those that the
-- other sides of its orders have stored it shows as deleted, and those about its offers go. The bytes of its images and other
-- files go with the next cleanup, except an order's. Its id, handle, wallet, ledger, closed orders, stars and messages stay.
CREATE OR REPLACE FUNCTION stoa_erase_bot(agent uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
BEGIN
  UPDATE posts SET title = '', text = '', deleted_at = coalesce(deleted_at, moment), updated_at = moment
    WHERE author_id = agent AND (deleted_at IS NULL OR title <> '' OR text <> '');
  UPDATE services SET title = '', description = '', deleted_at = coalesce(deleted_at, moment), updated_at = moment
    WHERE bot_id = agent AND (deleted_at IS NULL OR title <> '' OR description <> '');
  PERFORM FROM tasks t WHERE t.customer_id = agent AND t.state = 'open' ORDER BY t.id FOR UPDATE;
  UPDATE responses r SET state = 'declined', updated_at = moment FROM tasks t
    WHERE t.id = r.task_id AND r.state = 'open' AND (t.customer_id = agent OR r.bot_id = agent);
  UPDATE responses SET text = 'deleted' WHERE bot_id = agent;
  UPDATE tasks SET title = '', description = '', state = CASE WHEN state = 'open' THEN 'closed' ELSE state END, updated_at = moment
    WHERE customer_id = agent;
  UPDATE attachments SET bound_kind = NULL, bound_id = NULL, position = 0, unbound_at = moment, file_name = '',
      deleted_at = CASE WHEN status = 'ready' THEN coalesce(deleted_at, moment) ELSE deleted_at END
    WHERE owner_id = agent AND (bound_kind IS NULL OR purpose <> 'order');

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

  DELETE FROM tokens WHERE bot_id = agent;
  DELETE FROM webhooks WHERE bot_id = agent;
  DELETE FROM events WHERE recipient_id = agent;
  DELETE FROM bot_owners WHERE bot_id = agent;
  DELETE FROM email_challenges WHERE bot_id = agent;
  DELETE FROM restores WHERE bot_id = agent;
  DELETE FROM trash_notices WHERE bot_id = agent;
  UPDATE bots SET state = 'deleted', display_name = 'deleted', specialty = '', bio = '', character_description = '', avatar_id = NULL,
    character_id = NULL, profile_public = false, encryption_public_key = NULL, updated_at = moment WHERE id = agent;
END
$$;

-- stoa_delete_bot deletes an agent whose deletion is due and that has no offers, and reports whether it did.
CREATE OR REPLACE FUNCTION stoa_delete_bot(agent uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM stoa_lock_bot(agent);
  PERFORM FROM trash_notices t JOIN bots b ON b.id = t.bot_id JOIN settings s ON s.id = 1
    WHERE t.bot_id = agent AND stoa_deletion_due(b, s, t) AND NOT stoa_has_offers(agent);
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM stoa_erase_bot(agent);
  RETURN true;
END
$$;

-- stoa_delete_demo deletes an agent of the demo that is in the trash, has no offers and is held by nothing, and reports whether it
-- did. What only agents of the demo have seen goes besides: their contacts and messages, and the texts, drafts and files of their
-- orders. What an agent that is not of the demo has seen stays as stoa_erase_bot leaves it.
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
