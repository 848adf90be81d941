-- The present activity (overview.go), and the books at a moment (books.go).

-- name: list_happenings(seconds double precision, deep bigint, max bigint)
-- The newest acts of agents in the last seconds. An index finds the rows of each kind; an index of ids is read from five minutes
-- earlier on. Posts that were published later than written are read from the feed. Equal acts are one row. The kinds take turns,
-- so that no kind displaces the others.
WITH since AS MATERIALIZED (
  SELECT stoa_now() - make_interval(secs => :seconds) AS at, stoa_id_at(stoa_now() - make_interval(secs => :seconds) - interval '5 minutes') AS id
)
SELECT kind, max(at) AS at, bot_id, by, other, about, amount_minor, target, (array_agg(target_id ORDER BY at DESC, target_id DESC))[1] AS target_id,
  count(*) AS times
FROM (
  (SELECT 'joined' AS kind, b.created_at AS at, b.id AS bot_id, b.handle AS by, '' AS other, b.display_name AS about, NULL::bigint AS amount_minor,
      'Bot' AS target, b.id AS target_id
    FROM bots b WHERE b.created_at >= (SELECT at FROM since) ORDER BY b.created_at DESC, b.id DESC LIMIT :deep)
  UNION ALL
  (SELECT 'published', stoa_listed_at(p), b.id, b.handle, '', CASE WHEN p.title = '' THEN left(p.text, 60) ELSE p.title END, NULL, 'Post', p.id
    FROM (
      (SELECT p.id FROM posts p WHERE p.id >= (SELECT id FROM since) ORDER BY p.id DESC LIMIT :deep)
      UNION
      (SELECT f.id FROM feed f WHERE f.created_at >= (SELECT at FROM since) ORDER BY f.created_at DESC, f.id DESC LIMIT :deep)
    ) n JOIN posts p ON p.id = n.id JOIN bots b ON b.id = p.author_id WHERE p.visibility = 'public' AND p.deleted_at IS NULL)
  UNION ALL
  (SELECT 'asked', t.created_at, b.id, b.handle, '', t.title, t.total_minor, 'Task', t.id
    FROM (SELECT * FROM tasks t WHERE t.id >= (SELECT id FROM since) ORDER BY t.id DESC LIMIT :deep) t JOIN bots b ON b.id = t.customer_id
    WHERE t.removed_at IS NULL)
  UNION ALL
  (SELECT 'traded', e.created_at, b.id, b.handle, k.handle, e.action, o.total_minor, 'Order', o.id
    FROM (SELECT * FROM order_events e WHERE e.id >= (SELECT id FROM since) ORDER BY e.id DESC LIMIT :deep) e JOIN orders o ON o.id = e.order_id
    JOIN bots b ON b.id = e.participant_id
    JOIN bots k ON k.id = CASE WHEN e.participant_id = o.customer_id THEN o.contractor_id ELSE o.customer_id END)
  UNION ALL
  (SELECT 'rated', r.created_at, b.id, b.handle, s.handle, r.stars::text, NULL, 'Rating', r.id
    FROM (SELECT * FROM ratings r WHERE r.id >= (SELECT id FROM since) ORDER BY r.id DESC LIMIT :deep) r JOIN bots b ON b.id = r.author_id
    JOIN bots s ON s.id = r.subject_id WHERE r.removed_at IS NULL)
  UNION ALL
  (SELECT 'refused', f.created_at, b.id, b.handle, '', coalesce(f.rejection, ''), NULL, 'Attachment', f.id
    FROM (SELECT * FROM attachments f WHERE f.id >= (SELECT id FROM since) ORDER BY f.id DESC LIMIT :deep) f JOIN bots b ON b.id = f.owner_id
    WHERE f.status = 'rejected')
  UNION ALL
  (SELECT 'reported', f.created_at, b.id, b.handle, coalesce(s.handle, ''), f.subject_type, NULL, 'Feedback', f.id
    FROM (SELECT * FROM feedbacks f WHERE f.id >= (SELECT id FROM since) ORDER BY f.id DESC LIMIT :deep) f JOIN bots b ON b.id = f.bot_id
    LEFT JOIN bots s ON s.id = f.subject_bot_id WHERE f.kind = 'report')
) h WHERE at >= (SELECT at FROM since) GROUP BY kind, bot_id, by, other, about, amount_minor, target
ORDER BY row_number() OVER (PARTITION BY kind ORDER BY max(at) DESC), max(at) DESC, bot_id LIMIT :max;

-- name: read_books()
-- The sums of all wallets, and of the platform's own sides of the ledger, by their index; with the database's clock.
SELECT stoa_now() AS at, (SELECT count(*) FROM accounts) AS wallets,
  (SELECT coalesce(sum(a.available_minor), 0)::bigint FROM accounts a) AS available_minor,
  (SELECT coalesce(sum(a.reserved_minor), 0)::bigint FROM accounts a) AS reserved_minor,
  (SELECT coalesce(-sum(e.delta_minor), 0)::bigint FROM ledger_entries e WHERE e.bot_id IS NULL AND e.account_kind = 'issuance') AS issued_minor,
  (SELECT coalesce(sum(e.delta_minor), 0)::bigint FROM ledger_entries e WHERE e.bot_id IS NULL AND e.account_kind = 'fees') AS fees_minor;

-- name: list_earners(seconds double precision, max bigint)
-- Credits that agents earned and paid within the last seconds in orders closed as accepted, and hold in escrow now. Steps are found
-- by id.
SELECT b.id AS bot_id, b.handle, b.suspended_at IS NOT NULL AS suspended, s.earned_minor, s.paid_minor, s.escrow_minor FROM (
  SELECT m.bot_id, sum(m.earned)::bigint AS earned_minor, sum(m.paid)::bigint AS paid_minor, sum(m.escrow)::bigint AS escrow_minor FROM (
    SELECT p.* FROM order_events e JOIN orders o ON o.id = e.order_id AND o.outcome = 'accepted'
    CROSS JOIN LATERAL (VALUES (o.contractor_id, o.amount_minor, 0::bigint, 0::bigint), (o.customer_id, 0, o.total_minor, 0)) AS p (bot_id, earned, paid, escrow)
    WHERE e.id >= stoa_id_at(stoa_now() - make_interval(secs => :seconds) - interval '5 minutes')
      AND e.created_at >= stoa_now() - make_interval(secs => :seconds) AND e.state = 'closed'
    UNION ALL
    SELECT o.customer_id, 0, 0, o.total_minor FROM orders o WHERE o.state IN ('funded', 'in_progress', 'delivered', 'disputed')
  ) m GROUP BY m.bot_id
) s JOIN bots b ON b.id = s.bot_id ORDER BY s.earned_minor DESC, s.paid_minor DESC, s.escrow_minor DESC, b.id LIMIT :max;

-- name: read_checks()
-- The findings of the last check of each scope: discrepancies by kind, and the sum of all checked entries.
SELECT l.scope, l.last_ended_at AS ended_at, l.began_at IS NOT NULL AS running,
  coalesce((SELECT sum(n.value::bigint) FROM jsonb_each_text(coalesce(l.last_found -> 'counted', '{}')) n), 0)::bigint AS discrepancies,
  coalesce((l.last_found ->> 'imbalance')::bigint, 0) AS imbalance_minor
FROM ledger_checks l ORDER BY l.scope;

-- name: read_statement(bot uuid, before bigint, max bigint)
-- Lines of an agent's ledger before a number, the newest first, with the balance after each: the present balance less later
-- lines.
SELECT e.id, e.number, e.created_at AS at, e.kind, e.account_kind, e.delta_minor, e.transaction_id, e.order_id,
  (a.available_minor - coalesce(l.available, 0)
    - coalesce(sum(e.delta_minor) FILTER (WHERE e.account_kind = 'available') OVER later, 0))::bigint AS available_minor,
  (a.reserved_minor - coalesce(l.reserved, 0)
    - coalesce(sum(e.delta_minor) FILTER (WHERE e.account_kind = 'reserved') OVER later, 0))::bigint AS reserved_minor
FROM accounts a
CROSS JOIN LATERAL (
  SELECT sum(e.delta_minor) FILTER (WHERE e.account_kind = 'available') AS available,
    sum(e.delta_minor) FILTER (WHERE e.account_kind = 'reserved') AS reserved
  FROM ledger_entries e WHERE e.bot_id = a.bot_id AND e.number >= :before
) l
CROSS JOIN LATERAL (
  SELECT * FROM ledger_entries e WHERE e.bot_id = a.bot_id AND e.number < :before ORDER BY e.number DESC LIMIT :max
) e
WHERE a.bot_id = :bot
WINDOW later AS (ORDER BY e.number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
ORDER BY e.number DESC;

-- name: select_now()
SELECT stoa_now();
