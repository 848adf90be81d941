-- name: select_requirements()
SELECT registration_mode, email_gate_enabled, restore_enabled, operator_name, operator_contact_email, operator_website
FROM settings WHERE id = 1;

-- text: document_card
-- The columns of a document for every reader.
id, title, version, url, sha256

-- name: select_documents()
SELECT :document_card FROM documents WHERE withdrawn_at IS NULL ORDER BY key;

-- name: select_document(document uuid)
SELECT :document_card, text, withdrawn_at IS NOT NULL AS withdrawn FROM documents WHERE id = :document;

-- name: lock_address(mailbox text)
-- Serializes the requests for a mailbox: each sees the challenges of the earlier ones.
SELECT pg_advisory_xact_lock(hashtextextended('email_challenges ' || :mailbox, 0));

-- name: recall_address(address text, digest text)
-- Gives an erased address its passports back, because it was verified again.
SELECT stoa_move_passports(:digest, :address);

-- name: judge_request(address text, digest text, mailbox text, handle text, agent uuid, resend_seconds double precision)
-- The values that decide about a request for a challenge. wait_seconds is 0 if a challenge may be mailed now. Codes that were not
-- mailed count like others, so that their number reveals nothing. Challenges are counted for the address without its +suffix,
-- passports with it, also if the address was erased (digest).
SELECT EXISTS (SELECT FROM bots b WHERE b.handle = :handle) AS handle_taken,
  coalesce((SELECT sum(o.passports) >= 3 FROM owner_emails o WHERE o.address IN (:address, :digest)), false) AS address_full,
  (SELECT count(*) FROM email_challenges c WHERE c.mailbox = :mailbox AND c.created_at > stoa_now() - interval '24 hours') AS asked,
  coalesce((
    SELECT extract(epoch FROM max(c.created_at) + make_interval(secs => :resend_seconds) - stoa_now()) FROM email_challenges c
    WHERE c.address = :address AND (c.handle = :handle OR c.bot_id = :agent)
      AND c.created_at > stoa_now() - make_interval(secs => :resend_seconds)
  ), 0)::float8 AS wait_seconds;

-- name: replace_challenges(address text, handle text, agent uuid)
-- Ends the codes and links that were mailed before. An agent that is being linked has one challenge at a time.
UPDATE email_challenges SET replaced_at = stoa_now()
WHERE replaced_at IS NULL AND verified_at IS NULL AND ((address = :address AND handle = :handle) OR bot_id = :agent);

-- name: insert_challenge(challenge uuid, address text, written text, mailbox text, handle text, encryption_public_key bytea, agent uuid, mailed boolean, ttl_seconds double precision)
INSERT INTO email_challenges (id, created_at, address, written, mailbox, handle, encryption_public_key, bot_id, mailed, expires_at)
VALUES (:challenge, stoa_now(), :address, :written, :mailbox, :handle, :encryption_public_key, :agent, :mailed,
  stoa_now() + make_interval(secs => :ttl_seconds))
RETURNING expires_at;

-- name: lock_challenge(challenge uuid, agent uuid, max_wrong_codes integer)
-- A challenge of that agent, or of a registration if agent is null.
SELECT address, confirmed_at IS NOT NULL AS confirmed,
  mailed AND replaced_at IS NULL AND verified_at IS NULL AND wrong_codes < :max_wrong_codes AND expires_at > stoa_now() AS open
FROM email_challenges WHERE id = :challenge AND bot_id IS NOT DISTINCT FROM :agent
FOR UPDATE;

-- name: count_wrong_code(challenge uuid)
UPDATE email_challenges SET wrong_codes = wrong_codes + 1 WHERE id = :challenge;

-- name: prove_challenge(challenge uuid, ttl_seconds double precision)
UPDATE email_challenges SET verified_at = stoa_now(), proof_expires_at = stoa_now() + make_interval(secs => :ttl_seconds)
WHERE id = :challenge
RETURNING proof_expires_at;

-- name: address_full(address text)
SELECT stoa_address_full(:address) AS address_full;

-- name: link_owner(challenge uuid)
-- Makes the address of a challenge the owner of its agent. The address is not full and the agent has no owner.
WITH verified AS (
  UPDATE email_challenges SET verified_at = stoa_now() WHERE id = :challenge RETURNING address, written, bot_id, confirmed_at, documents
), agent AS (
  UPDATE bots b SET email_verified_at = stoa_now(), updated_at = stoa_now() FROM verified v WHERE b.id = v.bot_id
)
SELECT stoa_take_passport(v.address, v.written, v.bot_id, v.confirmed_at, v.documents) FROM verified v;

-- name: has_owner(agent uuid)
SELECT EXISTS (SELECT FROM bot_owners WHERE bot_id = :agent);

-- name: select_confirmation(challenge uuid, max_wrong_codes integer)
-- The data of the page that asks the owner who follows a mail's link to confirm.
SELECT c.address, c.bot_id IS NOT NULL AS links, coalesce(c.handle, b.handle) AS handle,
  coalesce(c.encryption_public_key, b.encryption_public_key) AS encryption_public_key, c.expires_at,
  CASE
    WHEN c.verified_at IS NOT NULL THEN 'done'
    WHEN c.replaced_at IS NOT NULL THEN 'replaced'
    WHEN c.wrong_codes >= :max_wrong_codes THEN 'spent'
    WHEN c.confirmed_at IS NOT NULL THEN 'done'
    WHEN c.expires_at <= stoa_now() THEN 'expired'
    ELSE 'open'
  END AS state
FROM email_challenges c LEFT JOIN bots b ON b.id = c.bot_id
WHERE c.id = :challenge AND c.mailed;

-- name: confirm_challenge(challenge uuid, documents uuid[])
-- Stores that the owner has confirmed the documents. No row if the challenge is not open any more, or if these are not the
-- documents in force.
UPDATE email_challenges c
SET confirmed_at = stoa_now(), documents = (
  SELECT coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'key', d.key, 'version', d.version, 'sha256', d.sha256) ORDER BY d.key), '[]')
  FROM documents d WHERE d.withdrawn_at IS NULL)
WHERE c.id = :challenge AND c.mailed AND c.confirmed_at IS NULL AND c.verified_at IS NULL AND c.replaced_at IS NULL
  AND c.expires_at > stoa_now()
  AND ARRAY(SELECT d.id FROM documents d WHERE d.withdrawn_at IS NULL ORDER BY d.id) = ARRAY(SELECT unnest(:documents::uuid[]) ORDER BY 1)
RETURNING c.id;

-- name: insert_restore(restore uuid, handle text, address text)
INSERT INTO restores (id, created_at, handle, address) VALUES (:restore, stoa_now(), :handle, :address);

-- name: lock_restorable(restore uuid)
-- The agent that a request to restore names, if it is that owner's and may be restored. Mail goes to the address as the owner
-- wrote it when it was verified, not as the caller has written it.
SELECT b.id AS bot_id, coalesce(o.written, o.address) AS address, 'restore' AS purpose, r.created_at
FROM restores r JOIN bots b ON b.handle = r.handle JOIN bot_owners o ON o.bot_id = b.id AND o.address = r.address
JOIN settings s ON s.id = 1
WHERE r.id = :restore AND r.bot_id IS NULL AND s.restore_enabled AND b.state <> 'deleted' AND b.suspended_at IS NULL
FOR NO KEY UPDATE OF b;

-- name: accept_restore(restore uuid, agent uuid, max_mails bigint)
-- No row if the agent's owner was mailed too often within an hour. The agent's row is locked.
UPDATE restores r SET bot_id = :agent
WHERE r.id = :restore AND (
  SELECT count(*) FROM restores q WHERE q.bot_id = :agent AND q.created_at > stoa_now() - interval '1 hour'
) < :max_mails
RETURNING r.id;

-- name: select_restore(restore uuid, ttl_seconds double precision, repeat_seconds double precision)
-- A restore whose link was mailed, and its agent. A caller that changes them locks them first (lock_restore).
SELECT r.bot_id, b.handle, r.token_expires_at,
  CASE
    WHEN r.confirmed_at > stoa_now() - make_interval(secs => :repeat_seconds) THEN 'repeat'
    WHEN r.confirmed_at IS NOT NULL THEN 'done'
    WHEN r.replaced_at IS NOT NULL THEN 'replaced'
    WHEN r.created_at <= stoa_now() - make_interval(secs => :ttl_seconds) THEN 'expired'
    WHEN NOT s.restore_enabled OR b.state = 'deleted' OR b.suspended_at IS NOT NULL THEN 'refused'
    ELSE 'open'
  END AS state
FROM restores r JOIN bots b ON b.id = r.bot_id JOIN settings s ON s.id = 1
WHERE r.id = :restore;

-- name: lock_restore(restore uuid)
SELECT b.id FROM restores r JOIN bots b ON b.id = r.bot_id WHERE r.id = :restore FOR NO KEY UPDATE OF r, b;

-- name: confirm_restore(restore uuid, token_expires_at timestamp with time zone)
-- Ends the agent's other mailed links.
WITH confirmed AS (
  UPDATE restores SET confirmed_at = stoa_now(), token_expires_at = :token_expires_at WHERE id = :restore RETURNING id, bot_id
)
UPDATE restores r SET replaced_at = stoa_now() FROM confirmed c
WHERE r.bot_id = c.bot_id AND r.id <> c.id AND r.confirmed_at IS NULL AND r.replaced_at IS NULL;

-- name: delete_old_challenges(retention_seconds double precision, batch bigint)
DELETE FROM email_challenges WHERE id IN (
  SELECT id FROM email_challenges WHERE created_at < stoa_now() - make_interval(secs => :retention_seconds)
  ORDER BY created_at LIMIT :batch);

-- name: delete_old_restores(retention_seconds double precision, batch bigint)
DELETE FROM restores WHERE id IN (
  SELECT id FROM restores WHERE created_at < stoa_now() - make_interval(secs => :retention_seconds)
  ORDER BY created_at LIMIT :batch);

-- name: insert_request(request uuid, purpose text, handle text, address text)
INSERT INTO owner_requests (id, created_at, purpose, handle, address) VALUES (:request, stoa_now(), :purpose, :handle, :address);

-- name: lock_requestable(request uuid)
-- The agent that a request of an owner names, if it is that owner's and may be exported or erased. Mail goes to the address as
-- the owner wrote it when it was verified.
SELECT b.id AS bot_id, coalesce(o.written, o.address) AS address, r.purpose, r.created_at
FROM owner_requests r JOIN bots b ON b.handle = r.handle JOIN bot_owners o ON o.bot_id = b.id AND o.address = r.address
WHERE r.id = :request AND r.bot_id IS NULL AND b.state <> 'deleted' AND b.suspended_at IS NULL
FOR NO KEY UPDATE OF b;

-- name: accept_request(request uuid, agent uuid, max_mails bigint)
-- No row if the agent's owner was mailed too often within an hour. The agent's row is locked.
UPDATE owner_requests r SET bot_id = :agent
WHERE r.id = :request AND (
  SELECT count(*) FROM owner_requests q WHERE q.bot_id = :agent AND q.created_at > stoa_now() - interval '1 hour'
) < :max_mails
RETURNING r.id;

-- name: select_request(request uuid, purpose text, ttl_seconds double precision)
SELECT r.bot_id, b.handle,
  CASE
    WHEN b.state = 'deleted' OR b.suspended_at IS NOT NULL THEN 'refused'
    WHEN r.confirmed_at IS NOT NULL THEN 'done'
    WHEN r.created_at <= stoa_now() - make_interval(secs => :ttl_seconds) THEN 'expired'
    ELSE 'open'
  END AS state
FROM owner_requests r JOIN bots b ON b.id = r.bot_id
WHERE r.id = :request AND r.purpose = :purpose;

-- name: confirm_request(request uuid)
UPDATE owner_requests SET confirmed_at = stoa_now() WHERE id = :request AND confirmed_at IS NULL;

-- name: delete_old_requests(retention_seconds double precision, batch bigint)
DELETE FROM owner_requests WHERE id IN (
  SELECT id FROM owner_requests WHERE created_at < stoa_now() - make_interval(secs => :retention_seconds)
  ORDER BY created_at LIMIT :batch);

-- name: lock_writable(agent uuid)
-- The address of an agent's owner, empty if there is none, and how often operators wrote about the agent within a day, with the
-- seconds until the first of these mails no longer counts.
SELECT coalesce((SELECT coalesce(o.written, o.address) FROM bot_owners o WHERE o.bot_id = b.id), '') AS address, d.written, d.wait_seconds
FROM bots b CROSS JOIN LATERAL (
  SELECT count(*) AS written, coalesce(extract(epoch FROM min(m.created_at) + interval '24 hours' - stoa_now()), 0)::float8 AS wait_seconds
  FROM mails m WHERE m.bot_id = b.id AND m.kind = 'operator_mail' AND m.created_at > stoa_now() - interval '24 hours'
) d WHERE b.id = :agent AND b.state <> 'deleted' FOR NO KEY UPDATE OF b;

-- name: compare_text(mail uuid, body text)
-- Whether an operator's mail had this text.
SELECT sha256 = sha256(convert_to(:body, 'UTF8')) AS same FROM mail_texts WHERE mail_id = :mail;
