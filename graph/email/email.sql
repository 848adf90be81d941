-- name: claim_mail(mail uuid)
-- Claims a waiting mail for a minute and counts the attempt. No row if the mail is done or another process is sending it.
UPDATE mails SET attempts = attempts + 1, claimed_until = stoa_now() + interval '1 minute'
WHERE id = :mail AND sent_at IS NULL AND refused_at IS NULL AND expired_at IS NULL
  AND (claimed_until IS NULL OR claimed_until <= stoa_now())
RETURNING id, kind, address, bot_id, reference, created_at, attempts, counted_at IS NOT NULL AS counted, stoa_now() AS now,
  coalesce(expires_at, created_at + interval '3 days') AS deadline;

-- name: count_mail(mail uuid)
UPDATE mails SET counted_at = stoa_now() WHERE id = :mail;

-- name: end_attempt(mail uuid, outcome text, error text)
-- Stores how an attempt ended: sent, refused, expired, failed, or held, which does not count. A mail that has ended is not
-- changed. An empty error keeps the one before. The text of an operator is deleted once the mail has ended.
WITH ended AS (
  UPDATE mails SET claimed_until = NULL, attempts = attempts - CASE WHEN :outcome = 'held' AND attempts > 0 THEN 1 ELSE 0 END,
    sent_at = CASE WHEN :outcome = 'sent' THEN stoa_now() END,
    refused_at = CASE WHEN :outcome = 'refused' THEN stoa_now() END,
    expired_at = CASE WHEN :outcome = 'expired' THEN stoa_now() END,
    last_error = coalesce(nullif(:error, ''), last_error)
  WHERE id = :mail AND sent_at IS NULL AND refused_at IS NULL AND expired_at IS NULL
  RETURNING id, coalesce(sent_at, refused_at, expired_at) AS at
)
UPDATE mail_texts t SET text = NULL FROM ended e WHERE t.mail_id = e.id AND e.at IS NOT NULL;

-- name: requeue_mails()
-- Releases mails whose process has died while it was sending them.
UPDATE mails SET claimed_until = NULL
WHERE id IN (
  SELECT id FROM mails
  WHERE sent_at IS NULL AND refused_at IS NULL AND expired_at IS NULL AND claimed_until <= stoa_now()
  ORDER BY created_at, id LIMIT 100 FOR UPDATE SKIP LOCKED
)
RETURNING id;

-- name: delete_ended_mails(retention_seconds double precision, batch bigint)
DELETE FROM mails WHERE id IN (
  SELECT id FROM mails
  WHERE created_at < stoa_now() - make_interval(secs => :retention_seconds)
    AND coalesce(sent_at, refused_at, expired_at) < stoa_now() - make_interval(secs => :retention_seconds)
  ORDER BY created_at LIMIT :batch
);

-- name: mail_metrics()
SELECT (SELECT count(*) FROM (
    SELECT FROM mails WHERE sent_at IS NULL AND refused_at IS NULL AND expired_at IS NULL LIMIT 100000) m) AS stoa_mails_waiting,
  greatest((SELECT extract(epoch FROM stoa_now() - created_at) FROM mails
    WHERE sent_at IS NULL AND refused_at IS NULL AND expired_at IS NULL
    ORDER BY created_at, id LIMIT 1), 0)::float8 AS stoa_mails_oldest_seconds;

-- name: challenge_mail(challenge uuid)
-- A challenge whose code may still be entered.
SELECT coalesce(c.handle, b.handle) AS handle, c.expires_at AS until
FROM email_challenges c LEFT JOIN bots b ON b.id = c.bot_id
WHERE c.id = :challenge AND c.mailed AND c.replaced_at IS NULL AND c.verified_at IS NULL AND c.expires_at > stoa_now();

-- name: refused_mail(challenge uuid)
SELECT c.handle, c.expires_at AS until FROM email_challenges c WHERE c.id = :challenge AND c.handle IS NOT NULL;

-- name: restore_mail(restore uuid)
SELECT b.handle, r.created_at + interval '24 hours' AS until
FROM restores r JOIN bots b ON b.id = r.bot_id
WHERE r.id = :restore AND r.confirmed_at IS NULL AND r.replaced_at IS NULL;

-- name: notice_mail(agent uuid)
SELECT b.handle, stoa_now() + interval '1 month' AS until FROM bots b WHERE b.id = :agent AND b.state = 'trash';

-- name: request_mail(request uuid)
SELECT b.handle, r.created_at + interval '24 hours' AS until
FROM owner_requests r JOIN bots b ON b.id = r.bot_id
WHERE r.id = :request AND r.confirmed_at IS NULL;

-- name: erasure_mail(erasure uuid)
SELECT b.handle, e.due_at AS until, e.requested_by = 'owner' AS by_owner
FROM erasures e JOIN bots b ON b.id = e.bot_id
WHERE e.id = :erasure AND e.cancelled_at IS NULL AND e.due_at > stoa_now();

-- name: insert_text(mail uuid, body text)
INSERT INTO mail_texts (mail_id, text, sha256) VALUES (:mail, :body, sha256(convert_to(:body, 'UTF8')));

-- name: operator_mail(mail uuid)
-- The text of an operator to the owner of an agent that is not deleted, and the platform's operator and contact.
SELECT b.handle, t.text, s.operator_name, s.operator_contact_email
FROM mail_texts t JOIN mails m ON m.id = t.mail_id JOIN bots b ON b.id = m.bot_id JOIN settings s ON s.id = 1
WHERE t.mail_id = :mail AND t.text IS NOT NULL AND b.state <> 'deleted';
