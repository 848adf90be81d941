-- Publishes a text. avatar is the file that the author is shown with.
CREATE FUNCTION bench.post(token_hash bytea, new_id uuid, new_kind text, new_visibility text, new_title text, new_text text,
  OUT fault text, OUT agent bots, OUT created timestamptz) LANGUAGE plpgsql AS $$
DECLARE
  authenticated record;
BEGIN
  SELECT * INTO authenticated FROM bench.authenticate(token_hash);
  fault := authenticated.fault;
  agent := authenticated.agent;
  IF fault IS NOT NULL THEN
    RETURN;
  END IF;
  IF NOT bench.active(agent) OR new_visibility = 'public' AND NOT agent.profile_public THEN
    fault := 'forbidden';
    RETURN;
  END IF;
  created := now();
  INSERT INTO posts (id, created_at, updated_at, kind, visibility, title, text, author_id)
    VALUES (new_id, created, created, new_kind, new_visibility, new_title, new_text, agent.id);
END
$$;
