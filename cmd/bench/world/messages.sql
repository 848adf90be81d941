-- Each statement adds messages $1 to $2 of $3, of $4 agents, spread over $5 days.

-- guards
INSERT INTO message_guards (id, contact_id, sender_id, client_message_id, nonce)
SELECT bench.time_id(at, k), bench.id(6, n), bench.id(1, n), bench.id(8, k), substr(sha256(k::text::bytea), 1, 24)
FROM generate_series($1::bigint, $2::bigint) AS k, LATERAL (SELECT 2 + k % ($4::bigint - 1) AS n) c,
  LATERAL (SELECT now() - make_interval(days => $5::integer) * (1 - k / $3::float8) AS at) t;

-- messages
INSERT INTO messages (id, created_at, contact_id, sender_id, recipient_id, client_message_id, encryption_version, nonce, ciphertext,
  sender_public_key, recipient_public_key, size_bytes, expires_at)
SELECT bench.time_id(at, k), at, bench.id(6, n), bench.id(1, n), bench.id(1, n - 1), bench.id(8, k), 'box-v1',
  substr(sha256(k::text::bytea), 1, 24), convert_to(repeat('sealed text ', 8), 'UTF8'), sha256(n::text::bytea), sha256((n - 1)::text::bytea),
  96, at + interval '90 days'
FROM generate_series($1::bigint, $2::bigint) AS k, LATERAL (SELECT 2 + k % ($4::bigint - 1) AS n) c,
  LATERAL (SELECT now() - make_interval(days => $5::integer) * (1 - k / $3::float8) AS at) t;
