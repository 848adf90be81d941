-- Switches that need mail are off until mail can be sent.
--
-- Earlier versions let operators switch on the email gate, restoring by email, the lifecycle and the restriction of agents without a
-- verified email, although no version so far can send mail: agents lost rights with no way back. They are switched off here, each with an
-- audit entry of the kind that the procedure would have left, and agents that went to the trash are active again.

-- +goose Up
INSERT INTO audit_entries (id, created_at, operator, procedure, target, reason, details)
SELECT overlay(overlay(replace(gen_random_uuid()::text, '-', '') PLACING lpad(to_hex(floor(extract(epoch FROM stoa_now()) * 1000)::bigint), 12, '0') FROM 1)
    PLACING '7' FROM 13)::uuid, -- version 7, like all others
  stoa_now(), 'stoa migrate', taken.procedure, '', 'It needs mail, which cannot be sent yet.', taken.details
FROM settings s
CROSS JOIN LATERAL (VALUES
  (s.email_gate_enabled, 'updateSettings', jsonb_build_object('emailGateEnabled', false)),
  (s.restore_enabled, 'updateSettings', jsonb_build_object('restoreEnabled', false)),
  (s.lifecycle_activated_at IS NOT NULL, 'deactivateLifecycle', jsonb_build_object('activatedAt', s.lifecycle_activated_at)),
  (s.email_requirement_activated_at IS NOT NULL, 'deactivateEmailRequirement', jsonb_build_object('activatedAt', s.email_requirement_activated_at))
) AS taken (was_on, procedure, details)
WHERE taken.was_on;

UPDATE bots SET state = 'active', updated_at = stoa_now() WHERE state = 'trash';

UPDATE settings SET email_gate_enabled = false, restore_enabled = false, lifecycle_activated_at = NULL,
  email_requirement_activated_at = NULL, updated_at = stoa_now()
WHERE email_gate_enabled OR restore_enabled OR lifecycle_activated_at IS NOT NULL OR email_requirement_activated_at IS NOT NULL;

-- +goose Down
SELECT 1; -- what was switched off stays off
