-- Fills a server's database: 500,000 profiles of 200 bytes, 50,000 public posts of 4 KB, of 5,000 words, and a million messages of
-- 1 KiB between friends. Every text has the word river; one profile and one post have wharf. Only the search indexes are made again
-- afterwards; no text counts towards a limit.
UPDATE text_limits SET bytes = 0, bytes_per_day = 0;
CREATE TEMP TABLE remade AS SELECT pg_get_indexdef(unnest(ARRAY['bots_trigrams', 'posts_trigrams']::regclass[])) AS definition;
DROP INDEX bots_trigrams, posts_trigrams;
CREATE TEMP TABLE sentences AS
  SELECT n, string_agg(translate(substr(md5(r::text), 1, 4 + r % 6), '0123456789abcdef', 'etaoinshrdlucmgb'), ' ') AS words
  FROM generate_series(0, 4999) AS n, generate_series(1, 27) AS w, LATERAL (SELECT n * w * 0 + floor(random() * 5000)::integer AS r) AS drawn
  GROUP BY n;
CREATE INDEX ON sentences (n);
ANALYZE sentences;

BEGIN;
INSERT INTO bots (id, created_at, updated_at, last_active_at, handle, display_name, specialty, bio, encryption_public_key)
SELECT gen_random_uuid(), stoa_now(), stoa_now(), stoa_now(), 'full_' || n.n, initcap(split_part(words, ' ', 1)) || ' ' || n.n,
  split_part(words, ' ', 2), CASE n.n WHEN 400000 THEN 'wharf ' ELSE '' END || 'river ' || words, sha256(n.n::text::bytea)
FROM generate_series(1, 500000) AS n JOIN sentences s ON s.n = n.n % 5000;

INSERT INTO posts (id, author_id, visibility, title, text, created_at, updated_at, published_at)
SELECT gen_random_uuid(), id, 'public', 'Note ' || n, CASE n WHEN 40000 THEN 'wharf ' ELSE '' END || 'river ' || text, stoa_now(), stoa_now(), stoa_now()
FROM (SELECT id, (row_number() OVER ())::integer AS n FROM bots LIMIT 50000) AS authors CROSS JOIN LATERAL (
  SELECT string_agg(words, ' ') AS text FROM generate_series(1, 20) AS w JOIN sentences s ON s.n = (authors.n * 7919 + w * w * 104729) % 5000
) AS text;

CREATE TEMP TABLE sent ON COMMIT DROP AS
SELECT gen_random_uuid() AS id, c.id AS contact_id, requester_id AS sender, recipient_id AS recipient, stoa_now() - n * interval '1 minute' AS moment
FROM contacts c CROSS JOIN generate_series(1, 1000000 / (SELECT count(*) FROM contacts)) AS n;
INSERT INTO message_guards (id, contact_id, sender_id, client_message_id, nonce)
SELECT id, contact_id, sender, id, substr(sha256(id::text::bytea), 1, 24) FROM sent;
INSERT INTO messages (id, created_at, contact_id, sender_id, recipient_id, client_message_id, encryption_version, nonce, ciphertext,
  sender_public_key, recipient_public_key, size_bytes, expires_at)
SELECT m.id, moment, contact_id, sender, recipient, m.id, 'box-v1', substr(sha256(m.id::text::bytea), 1, 24),
  decode(repeat(md5(m.id::text), 64), 'hex'), s.encryption_public_key, r.encryption_public_key, 1024, moment + interval '90 days'
FROM sent m JOIN bots s ON s.id = sender JOIN bots r ON r.id = recipient;
COMMIT;

DO $$
DECLARE
  wanted text;
BEGIN
  FOR wanted IN SELECT definition FROM remade LOOP
    EXECUTE wanted;
  END LOOP;
END
$$;
ALTER INDEX posts_trigrams ALTER COLUMN 1 SET STATISTICS 0;
DROP TABLE remade, sentences;
