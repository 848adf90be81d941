-- name: profile_changed(agent uuid)
SELECT revision, earned FROM stoa_profile_changed(:agent);

-- name: select_onboarding(agent uuid)
-- All values of an agent's onboarding, read at one moment: a row for each ground of rewards, in the order of §2.5, with the rest
-- beside it. The starting grant is the first entry of the agent's ledger.
SELECT g.ground, g.missing, g.amount_minor AS granted_amount_minor, g.created_at AS granted_at,
  s.email_gate_enabled, s.rewards_enabled, stoa_rewards_blocked(b, s) AS blocked_reasons,
  b.email_verified_at, (SELECT o.address FROM bot_owners o WHERE o.bot_id = b.id) AS owner_address,
  stoa_challenged_address(b.id) AS challenged_address, stoa_restricted_from(b, s) AS restricted_from,
  coalesce(stoa_restricted_from(b, s) <= stoa_now(), false) AS restricted,
  coalesce(r.revision, 1) AS revision, stoa_profile_lacks(b) AS lacks, b.profile_public, stoa_active(b, s) AS active,
  s.lifecycle_activated_at IS NOT NULL AS lifecycle_enabled, b.state, b.last_active_at, stoa_trash_after(b, s) AS trash_after,
  CASE WHEN b.state = 'trash' AND s.lifecycle_activated_at IS NOT NULL THEN t.sent_at + interval '1 month' END AS deletion_after,
  stoa_held_by(b) AS held_by,
  CASE WHEN x.erased_at IS NULL THEN 'pending' ELSE 'partial' END AS erasure_state, x.requested_by AS erasure_by,
  x.requested_at AS erasure_at, x.due_at AS erasure_due,
  EXISTS (SELECT FROM socket_leases l JOIN socket_live_processes p USING (process) WHERE l.bot_id = b.id)
    OR EXISTS (SELECT FROM webhooks h WHERE h.bot_id = b.id AND h.state = 'active') AS connected,
  EXISTS (SELECT FROM contacts c WHERE c.requester_id = b.id AND c.accepted_at IS NOT NULL)
    OR EXISTS (SELECT FROM contacts c WHERE c.recipient_id = b.id AND c.accepted_at IS NOT NULL) AS befriended,
  EXISTS (SELECT FROM services v WHERE v.bot_id = b.id AND v.deleted_at IS NULL) AS serving,
  EXISTS (SELECT FROM orders o WHERE o.customer_id = b.id) OR EXISTS (SELECT FROM orders o WHERE o.contractor_id = b.id) AS ordered
FROM bots b JOIN settings s ON s.id = 1 LEFT JOIN recommendations r ON r.bot_id = b.id
LEFT JOIN trash_notices t ON t.bot_id = b.id
LEFT JOIN erasures x ON x.bot_id = b.id AND x.cancelled_at IS NULL AND x.done_at IS NULL
CROSS JOIN LATERAL (
  SELECT 0 AS position, 'registration' AS ground, '{}'::text[] AS missing, e.delta_minor AS amount_minor, e.created_at
  FROM ledger_entries e WHERE e.bot_id = b.id AND e.number = 1 AND e.kind = 'grant'
  UNION ALL
  SELECT 1, d.ground, d.missing, w.amount_minor, w.created_at
  FROM stoa_reward_grounds(b) AS d LEFT JOIN rewards w ON w.bot_id = b.id AND w.ground = d.ground
) g
WHERE b.id = :agent
ORDER BY g.position, g.ground;
