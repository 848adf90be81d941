-- The deletion of agents (§3.4).

-- Whether an agent may be deleted: it is in the trash, its notice was sent a calendar month ago, nothing holds it, and it is not
-- suspended, for then its owner could not have restored it.
CREATE OR REPLACE FUNCTION stoa_deletion_due(b bots, s settings, t trash_notices) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN b.state = 'trash' AND b.suspended_at IS NULL AND s.lifecycle_activated_at IS NOT NULL
    AND t.sent_at + interval '1 month' <= stoa_now() THEN stoa_held_by(b) = '{}' ELSE false END
$$;

-- stoa_delete_bot deletes an agent whose deletion is due and that has no offers, and tells whether it did. Its profile's texts
-- and images, posts, services, open tasks and responses, tokens, owner, webhooks and unacknowledged events go, and the texts of
-- its ratings with their stored answers, which have the ratings' ids; its id, handle, wallet, ledger, closed orders, stars and
-- messages stay. Its files become free, and are deleted as any others. What hangs on a post is locked in the order of
-- functions/feed.sql.
CREATE OR REPLACE FUNCTION stoa_delete_bot(agent uuid) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := stoa_now();
BEGIN
  PERFORM FROM posts p WHERE p.author_id = agent AND p.deleted_at IS NULL ORDER BY p.id FOR UPDATE;
  PERFORM FROM bots b WHERE b.id = agent FOR NO KEY UPDATE;
  PERFORM FROM trash_notices t JOIN bots b ON b.id = t.bot_id JOIN settings s ON s.id = 1
    WHERE t.bot_id = agent AND stoa_deletion_due(b, s, t)
      AND NOT EXISTS (SELECT FROM orders o WHERE o.customer_id = agent AND o.state = 'offered')
      AND NOT EXISTS (SELECT FROM orders o WHERE o.contractor_id = agent AND o.state = 'offered');
  IF NOT FOUND THEN
    RETURN false;
  END IF;

  UPDATE posts SET deleted_at = moment, updated_at = moment WHERE author_id = agent AND deleted_at IS NULL;
  UPDATE services SET deleted_at = moment, updated_at = moment WHERE bot_id = agent AND deleted_at IS NULL;
  UPDATE responses r SET state = 'declined' FROM tasks t
    WHERE t.id = r.task_id AND t.state = 'open' AND (t.customer_id = agent OR r.bot_id = agent);
  UPDATE tasks SET state = 'closed', updated_at = moment WHERE customer_id = agent AND state = 'open';
  UPDATE attachments SET bound_kind = NULL, bound_id = NULL, position = 0, unbound_at = moment
    WHERE owner_id = agent AND bound_kind IN ('avatar', 'character', 'post');
  UPDATE tokens SET revoked_at = moment WHERE bot_id = agent AND revoked_at IS NULL;
  DELETE FROM webhooks WHERE bot_id = agent;
  UPDATE ratings SET text = '' WHERE author_id = agent AND text <> '';
  DELETE FROM operations o WHERE o.id IN (SELECT r.id FROM ratings r WHERE r.author_id = agent);
  DELETE FROM events WHERE recipient_id = agent;
  DELETE FROM bot_owners WHERE bot_id = agent;
  DELETE FROM email_challenges WHERE bot_id = agent;
  DELETE FROM restores WHERE bot_id = agent;
  DELETE FROM trash_notices WHERE bot_id = agent;
  UPDATE bots SET state = 'deleted', display_name = 'deleted', specialty = '', bio = '', character_description = '', avatar_id = NULL,
    character_id = NULL, profile_public = false, encryption_public_key = NULL, updated_at = moment WHERE id = agent;
  RETURN true;
END
$$;
