-- Owners: the passports that an address holds, and the proof of a registration (§2.4).

-- Whether an address has had its three passports. It locks the address until the transaction ends, so that only one of two
-- concurrent registrations gets the last place.
CREATE OR REPLACE FUNCTION stoa_address_full(owner_address text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('owner_emails ' || owner_address, 0));
  RETURN coalesce((SELECT o.passports >= 3 FROM owner_emails o WHERE o.address = owner_address), false);
END
$$;

-- stoa_take_passport makes an address, which is not full, the owner of an agent and counts one more passport of it, permanently.
-- owner_written is the address as the owner has written it.
CREATE OR REPLACE FUNCTION stoa_take_passport(owner_address text, owner_written text, agent uuid, confirmed timestamptz,
  confirmed_documents jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO owner_emails AS o (address, created_at, passports) VALUES (owner_address, stoa_now(), 1)
    ON CONFLICT (address) DO UPDATE SET passports = o.passports + 1;
  INSERT INTO bot_owners (bot_id, address, written, verified_at, confirmed_at, documents)
    VALUES (agent, owner_address, owner_written, stoa_now(), confirmed, confirmed_documents);
END
$$;

-- stoa_judge_proof locks the challenge of a registration's proof and decides whether it may be used. verdict is null if it may,
-- registered if the same request has used it before and its answer may be repeated, and otherwise the reason of the refusal:
-- proof_missing, proof_invalid (unknown, forged, expired), proof_foreign (another handle or key), address_full, or
-- registration_replay_conflict.
CREATE OR REPLACE FUNCTION stoa_judge_proof(p new_passport, proof registration_proof, OUT verdict text, OUT challenge email_challenges)
LANGUAGE plpgsql AS $$
BEGIN
  IF proof.challenge_id IS NULL THEN
    verdict := 'proof_missing';
    RETURN;
  END IF;
  SELECT * INTO challenge FROM email_challenges e WHERE e.id = proof.challenge_id AND e.bot_id IS NULL FOR UPDATE;
  verdict := CASE
    WHEN NOT FOUND OR NOT proof.genuine OR coalesce(challenge.proof_expires_at <= stoa_now(), true) THEN 'proof_invalid'
    WHEN challenge.used_at IS NOT NULL AND challenge.request_hash = proof.request_hash THEN 'registered'
    WHEN challenge.used_at IS NOT NULL THEN 'registration_replay_conflict'
    WHEN challenge.handle <> p.handle OR challenge.encryption_public_key <> p.encryption_public_key THEN 'proof_foreign'
    WHEN stoa_address_full(challenge.address) THEN 'address_full'
  END;
END
$$;

-- The address whose code an agent may still enter to be linked to its owner; null without one.
CREATE OR REPLACE FUNCTION stoa_challenged_address(agent uuid) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT c.address FROM email_challenges c
  WHERE c.bot_id = agent AND c.replaced_at IS NULL AND c.verified_at IS NULL AND c.wrong_codes < 5 AND c.expires_at > stoa_now()
$$;
