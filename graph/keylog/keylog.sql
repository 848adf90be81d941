-- Statements about the key log (§12.2).

-- text: head
-- The columns of a head.
epoch, origin, size, root

-- name: present_head()
SELECT :head FROM log_head WHERE ended_at IS NULL;

-- name: head_of(epoch integer)
SELECT :head FROM log_head WHERE epoch = :epoch;

-- name: lock_head()
-- The present head, unless another process appends to it.
SELECT :head FROM log_head WHERE ended_at IS NULL FOR UPDATE SKIP LOCKED;

-- name: wait_for_head()
SELECT :head FROM log_head WHERE ended_at IS NULL FOR UPDATE;

-- name: add_head(epoch integer, origin text)
-- The head of an empty tree, unless an epoch is open or has that number.
INSERT INTO log_head (epoch, origin, size, root, began_at) VALUES (:epoch, :origin, 0, sha256(''), stoa_now()) ON CONFLICT DO NOTHING;

-- name: set_head(epoch integer, size bigint, root bytea)
UPDATE log_head SET size = :size, root = :root WHERE epoch = :epoch;

-- name: end_head(epoch integer, reason text)
UPDATE log_head SET ended_at = stoa_now(), reason = :reason WHERE epoch = :epoch;

-- name: ended_heads()
SELECT :head, ended_at, reason FROM log_head WHERE ended_at IS NOT NULL ORDER BY epoch;

-- name: take_queue(max bigint)
SELECT id, type, label, commitment, subject_id, salt FROM log_queue ORDER BY id LIMIT :max FOR UPDATE SKIP LOCKED;

-- name: read_agents(agents uuid[])
-- The given agents that are not in the log. The key has the form of their cards, and is empty for deleted agents.
SELECT b.id, b.handle, coalesce(encode(b.encryption_public_key, 'base64'), '') AS key, b.created_at FROM bots b
WHERE b.id = ANY (:agents) AND NOT EXISTS (SELECT FROM log_openings o WHERE o.subject_id = b.id);

-- name: drop_queue(ids bigint[])
DELETE FROM log_queue WHERE id = ANY (:ids);

-- name: add_queue(type smallint, label bytea, commitment bytea)
INSERT INTO log_queue (type, label, commitment) VALUES (:type, :label, :commitment);

-- name: add_leaves(epoch integer, first bigint, entries bytea[])
INSERT INTO log_leaves (epoch, index, entry)
SELECT :epoch, :first + l.number - 1, l.entry FROM unnest(:entries::bytea[]) WITH ORDINALITY AS l(entry, number);

-- name: add_roots(epoch integer, levels bigint[], numbers bigint[], hashes bytea[])
INSERT INTO log_roots (epoch, level, n, hash)
SELECT :epoch, r.level, r.n, r.hash FROM unnest(:levels::bigint[], :numbers::bigint[], :hashes::bytea[]) AS r(level, n, hash);

-- name: add_openings(subjects uuid[], indexes bigint[], salts bytea[])
-- A salt that is empty becomes null.
INSERT INTO log_openings (subject_id, index, salt)
SELECT o.subject_id, o.index, nullif(o.salt, '') FROM unnest(:subjects::uuid[], :indexes::bigint[], :salts::bytea[]) AS o(subject_id, index, salt);

-- name: index_of(subject uuid)
SELECT index FROM log_openings WHERE subject_id = :subject;

-- name: entered(subjects uuid[])
-- The given subjects whose entry is in the log.
SELECT subject_id FROM log_openings WHERE subject_id = ANY (:subjects);

-- name: move_openings()
-- The entries of the former epoch follow the first entry of the next epoch.
UPDATE log_openings SET index = index + 1;

-- name: list_entries(epoch integer, first bigint, after bigint)
SELECT entry FROM log_leaves WHERE epoch = :epoch AND index >= :first AND index < :after ORDER BY index;

-- name: list_hashes(epoch integer, level smallint, first bigint, after bigint)
SELECT hash FROM log_roots WHERE epoch = :epoch AND level = :level AND n >= :first AND n < :after ORDER BY n;

-- name: cosignatures(epoch integer, size bigint)
SELECT line FROM log_cosignatures WHERE epoch = :epoch AND size = :size ORDER BY witness;

-- name: most_cosigned(epoch integer, size bigint)
-- Heads up to that size with the lines of their witnesses: most lines first, then the newest first.
SELECT size, array_agg(line ORDER BY witness) AS lines FROM log_cosignatures
WHERE epoch = :epoch AND size <= :size GROUP BY size ORDER BY count(*) DESC, size DESC;

-- name: fresh_cosigned(epoch integer, size bigint)
-- The witnesses that have signed a head within the last hour.
SELECT witness FROM log_cosignatures WHERE epoch = :epoch AND size = :size AND created_at > stoa_now() - interval '1 hour';

-- name: add_cosigned(epoch integer, size bigint, witness text, line text)
INSERT INTO log_cosignatures (epoch, size, witness, line, created_at) VALUES (:epoch, :size, :witness, :line, stoa_now())
ON CONFLICT (epoch, size, witness) DO UPDATE SET line = excluded.line, created_at = excluded.created_at;

-- name: drop_cosigned(epoch integer, witnesses text[])
-- Deletes lines that no proof needs: of other witnesses, former epochs, and heads with no more lines than a later head.
DELETE FROM log_cosignatures c USING (
  SELECT epoch, size, count(*) AS lines,
    max(count(*)) OVER (PARTITION BY epoch ORDER BY size DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS later
  FROM log_cosignatures WHERE witness = ANY (:witnesses) GROUP BY epoch, size
) h
WHERE c.epoch < :epoch OR c.witness <> ALL (:witnesses) OR (c.epoch = h.epoch AND c.size = h.size AND h.lines <= h.later);

-- name: live_keys(purpose text)
-- The numbers of the signing keys, the present one first. Retired keys sign for 30 more days.
SELECT number FROM signing_keys
WHERE purpose = :purpose AND coalesce(retired_at > stoa_now() - interval '30 days', true) ORDER BY number DESC;

-- name: present_key(purpose text)
SELECT number FROM signing_keys WHERE purpose = :purpose AND retired_at IS NULL;

-- name: lock_key(purpose text)
SELECT number FROM signing_keys WHERE purpose = :purpose AND retired_at IS NULL FOR UPDATE;

-- name: retire_key(purpose text)
UPDATE signing_keys SET retired_at = stoa_now() WHERE purpose = :purpose AND retired_at IS NULL;

-- name: add_key(purpose text, number integer)
INSERT INTO signing_keys (purpose, number, created_at) VALUES (:purpose, :number, stoa_now());

-- name: count_waiting()
-- Entries that wait to be appended, counted up to 100,000.
SELECT count(*) FROM (SELECT FROM log_queue LIMIT 100000) waiting;
