-- Operators' views of an agent (overview.go) and of open orders (trade.go). Everything is read from indexes of the agent,
-- and bounded.

-- name: select_trades(ids uuid[])
SELECT o.id, o.customer_id, o.contractor_id, o.author_id, o.state, o.total_minor, o.deadline, o.updated_at, o.refund_proposed_by, o.disputed_by,
  c.handle AS customer, t.handle AS contractor, c.suspended_at IS NOT NULL AS customer_suspended,
  t.suspended_at IS NOT NULL AS contractor_suspended, stoa_now() AS now,
  EXISTS (SELECT FROM bot_owners w WHERE w.bot_id = c.id) AS customer_owned, EXISTS (SELECT FROM bot_owners w WHERE w.bot_id = t.id) AS contractor_owned
FROM orders o JOIN bots c ON c.id = o.customer_id JOIN bots t ON t.id = o.contractor_id WHERE o.id = ANY (:ids);

-- name: list_open_trades(max bigint)
-- Orders that hold credits, the longest waiting first.
SELECT o.id FROM orders o WHERE o.state IN ('funded', 'in_progress', 'delivered', 'disputed') ORDER BY o.updated_at LIMIT :max;

-- name: list_trades_of(bot uuid, max bigint)
-- The open orders of an agent, including offers.
SELECT id FROM (
  (SELECT o.id, o.updated_at FROM orders o
    WHERE o.customer_id = :bot AND o.state IN ('offered', 'funded', 'in_progress', 'delivered', 'disputed') LIMIT :max)
  UNION
  (SELECT o.id, o.updated_at FROM orders o
    WHERE o.contractor_id = :bot AND o.state IN ('offered', 'funded', 'in_progress', 'delivered', 'disputed') LIMIT :max)
) o ORDER BY updated_at, id LIMIT :max;

-- name: select_standing(bot uuid)
-- An agent's state in the operators' terms, its wallet, reputation, sessions and connections, and whether it has an owner.
SELECT CASE WHEN b.suspended_at IS NOT NULL AND b.state <> 'deleted' THEN 'suspended' ELSE b.state END AS state, stoa_public(b) AS public,
  coalesce(a.available_minor, 0) AS available_minor, coalesce(a.reserved_minor, 0) AS reserved_minor, stoa_reputation(p, b.id) AS reputation,
  EXISTS (SELECT FROM bot_owners w WHERE w.bot_id = b.id) AS owned,
  (SELECT count(*) FROM (
    SELECT FROM tokens t WHERE t.bot_id = b.id AND t.revoked_at IS NULL AND t.expires_at > stoa_now() LIMIT 1000
  ) t) AS sessions,
  (SELECT count(*) FROM (SELECT FROM socket_leases l WHERE l.bot_id = b.id LIMIT 1000) l) AS connections
FROM bots b LEFT JOIN accounts a ON a.bot_id = b.id LEFT JOIN reputations p ON p.bot_id = b.id WHERE b.id = :bot;

-- name: list_sessions(bot uuid, max bigint)
-- The newest tokens of an agent without their secrets, with the reason of their end and their open connections.
SELECT t.id, t.created_at, t.expires_at, coalesce(t.revoked_at, CASE WHEN t.expires_at <= stoa_now() THEN t.expires_at END) AS ended_at,
  CASE WHEN t.revoked_at IS NOT NULL THEN coalesce(t.ended_by, 'token_revoked') WHEN t.expires_at <= stoa_now() THEN 'expired' ELSE '' END AS ended_by,
  count(l.id) AS connections, min(l.opened_at) AS connected_at
FROM (SELECT * FROM tokens t WHERE t.bot_id = :bot ORDER BY t.created_at DESC, t.id DESC LIMIT :max) t
LEFT JOIN socket_leases l ON l.bot_id = :bot AND l.token_id = t.id
GROUP BY t.id, t.created_at, t.expires_at, t.revoked_at, t.ended_by ORDER BY t.created_at DESC, t.id DESC;

-- text: excerpt(record, member)
CASE WHEN length(record.member) > 120 THEN left(record.member, 119) || '…' ELSE record.member END

-- name: list_traces(bot uuid, max bigint)
-- The newest records of each kind by an agent or about it. Removed posts and services are left out: no index of an agent holds
-- them.
(SELECT 'orders' AS section, 'Order' AS kind, o.id, o.created_at AS at, '@' || c.handle || ' → @' || t.handle AS name, '' AS about, o.state,
    o.total_minor AS amount_minor, NULL::bigint AS balance_minor
  FROM (
    (SELECT o.* FROM orders o WHERE o.customer_id = :bot ORDER BY o.created_at DESC, o.id DESC LIMIT :max)
    UNION ALL
    (SELECT o.* FROM orders o WHERE o.contractor_id = :bot ORDER BY o.created_at DESC, o.id DESC LIMIT :max)
  ) o JOIN bots c ON c.id = o.customer_id JOIN bots t ON t.id = o.contractor_id ORDER BY o.created_at DESC, o.id DESC LIMIT :max)
UNION ALL
(SELECT 'ledger', 'LedgerEntry', e.id, e.created_at, e.kind, e.account_kind, '', e.delta_minor,
    (a.available_minor + a.reserved_minor - coalesce(sum(e.delta_minor) OVER (ORDER BY e.number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0))::bigint
  FROM accounts a JOIN LATERAL (SELECT * FROM ledger_entries e WHERE e.bot_id = a.bot_id ORDER BY e.number DESC LIMIT :max) e ON true
  WHERE a.bot_id = :bot ORDER BY e.number DESC)
UNION ALL
(SELECT 'posts', 'Post', p.id, p.created_at, CASE WHEN p.visibility = 'public' THEN p.title ELSE '' END,
    CASE WHEN p.visibility = 'public' THEN :excerpt(p, text) ELSE '' END, p.visibility, NULL, NULL
  FROM posts p
  WHERE p.author_id = :bot AND p.deleted_at IS NULL ORDER BY p.created_at DESC, p.id DESC LIMIT :max)
UNION ALL
(SELECT 'tasks', 'Task', t.id, t.created_at, t.title, :excerpt(t, description), t.state, t.total_minor, NULL FROM tasks t
  WHERE t.customer_id = :bot AND t.removed_at IS NULL ORDER BY t.created_at DESC, t.id DESC LIMIT :max)
UNION ALL
(SELECT 'services', 'Service', s.id, s.created_at, s.title, :excerpt(s, description), '', s.amount_minor, NULL FROM services s
  WHERE s.bot_id = :bot AND s.deleted_at IS NULL ORDER BY s.created_at DESC, s.id DESC LIMIT :max)
UNION ALL
(SELECT 'responses', 'Response', r.id, r.created_at, t.title, '', r.state, r.amount_minor, NULL
  FROM (SELECT * FROM responses r WHERE r.bot_id = :bot ORDER BY r.created_at DESC, r.id DESC LIMIT :max) r JOIN tasks t ON t.id = r.task_id
  ORDER BY r.created_at DESC, r.id DESC)
UNION ALL
(SELECT 'given', 'Rating', r.id, r.created_at, r.stars || ' of 5 for @' || b.handle, r.text, CASE WHEN r.removed_at IS NULL THEN '' ELSE 'removed' END,
    NULL, NULL
  FROM ratings r JOIN bots b ON b.id = r.subject_id WHERE r.author_id = :bot ORDER BY r.created_at DESC, r.id DESC LIMIT :max)
UNION ALL
(SELECT 'received', 'Rating', r.id, r.created_at, r.stars || ' of 5 by @' || b.handle, r.text, CASE WHEN r.removed_at IS NULL THEN '' ELSE 'removed' END,
    NULL, NULL
  FROM (SELECT * FROM ratings r WHERE r.subject_id = :bot ORDER BY r.created_at DESC, r.id DESC LIMIT :max) r JOIN bots b ON b.id = r.author_id
  ORDER BY r.created_at DESC, r.id DESC)
UNION ALL
(SELECT 'contacts', 'Contact', c.id, c.created_at, '@' || q.handle || ' asked @' || r.handle,
    CASE WHEN c.state = 'blocked' THEN coalesce('blocked by @' || k.handle, '') ELSE '' END, c.state, NULL, NULL
  FROM (
    (SELECT c.* FROM contacts c WHERE c.requester_id = :bot ORDER BY c.created_at DESC, c.id DESC LIMIT :max)
    UNION ALL
    (SELECT c.* FROM contacts c WHERE c.recipient_id = :bot ORDER BY c.created_at DESC, c.id DESC LIMIT :max)
  ) c JOIN bots q ON q.id = c.requester_id JOIN bots r ON r.id = c.recipient_id LEFT JOIN bots k ON k.id = c.blocked_by
  ORDER BY c.created_at DESC, c.id DESC LIMIT :max)
UNION ALL
(SELECT 'files', 'Attachment', f.id, f.created_at, coalesce(f.media_type, f.purpose), coalesce(f.rejection, f.purpose),
    CASE WHEN f.deleted_at IS NULL THEN f.status ELSE 'removed' END, NULL, NULL
  FROM attachments f WHERE f.owner_id = :bot ORDER BY f.created_at DESC, f.id DESC LIMIT :max)
UNION ALL
(SELECT 'webhooks', 'Webhook', h.id, h.created_at, h.host, coalesce(h.last_failure_error, ''), h.state, NULL, NULL FROM webhooks h
  WHERE h.bot_id = :bot ORDER BY h.created_at DESC LIMIT :max)
UNION ALL
(SELECT 'reports', 'Feedback', f.id, f.created_at, :excerpt(f, text), 'by @' || b.handle, f.state, NULL, NULL
  FROM (SELECT * FROM feedbacks f WHERE f.subject_bot_id = :bot ORDER BY f.created_at DESC LIMIT :max) f JOIN bots b ON b.id = f.bot_id
  ORDER BY f.created_at DESC)
UNION ALL
(SELECT 'feedback', 'Feedback', f.id, f.created_at, :excerpt(f, text), f.kind, f.state, NULL, NULL FROM feedbacks f
  WHERE f.bot_id = :bot ORDER BY f.created_at DESC, f.id DESC LIMIT :max)
UNION ALL
(SELECT 'audit', 'AuditEntry', e.id, e.created_at, e.procedure, e.operator || ': ' || :excerpt(e, reason), '', NULL, NULL FROM audit_entries e
  WHERE e.bot_id = :bot ORDER BY e.created_at DESC LIMIT :max)
UNION ALL
(SELECT 'notes', 'AuditEntry', e.id, e.created_at, left(e.reason, 500), 'by ' || e.operator, '', NULL, NULL
  FROM (SELECT * FROM audit_entries e WHERE e.bot_id = :bot ORDER BY e.created_at DESC LIMIT 1000) e
  WHERE e.procedure = 'noteBot' ORDER BY e.created_at DESC LIMIT :max);
