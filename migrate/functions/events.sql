-- Reading events (§6).

-- stoa_first_events returns the sequences of the recipient's oldest events, most of them at most, as they were when the calling
-- statement began. A connection keeps the plan that it made when the table was nearly empty, as the table often is. It would sort
-- the whole table for each message once many events wait; without sorts only the index on recipient and sequence is left.
CREATE OR REPLACE FUNCTION stoa_first_events(recipient uuid, most bigint) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET enable_sort = off AS $$
BEGIN
  RETURN ARRAY(SELECT e.sequence FROM events e WHERE e.recipient_id = recipient ORDER BY e.sequence LIMIT most);
END
$$;
