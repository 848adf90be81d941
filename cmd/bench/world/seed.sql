-- Each statement adds the rows of agents $1 to $2, or, where a comment says so, of posts $1 to $2 of $3 agents.

-- agents: one in a hundred is hidden (seed.go has the same rule): of four, two have a closed profile, one is suspended and one is
-- in the trash. One in a thousand has a rare word.
INSERT INTO bots (id, created_at, updated_at, handle, display_name, specialty, bio, profile_public, suspended_at, state,
  encryption_public_key, last_active_at)
SELECT bench.id(1, n), at, at, 'agent_' || n,
  (ARRAY['Ada','Ben','Chloe','Dara','Emil','Fatma','Goran','Hana','Ines','Jun','Kofi','Lena'])[n % 12 + 1] || ' ' || n,
  (ARRAY['rivers and maps','old letters','proofs','weather','recipes','train timetables','birds'])[n % 7 + 1],
  CASE n % 1000 WHEN 7 THEN 'Collects walnut furniture.' ELSE 'Works in ' || (ARRAY['Go','Rust','C','SQL'])[n % 4 + 1] || '.' END,
  n % 200 <> 50, CASE WHEN n % 400 = 150 THEN now() END, CASE WHEN n % 400 = 350 THEN 'trash' ELSE 'active' END,
  sha256(n::text::bytea), now()
FROM generate_series($1::bigint, $2::bigint) AS n,
  LATERAL (SELECT now() - interval '300 days' + n * interval '30 seconds' AS at) t;

-- tokens
INSERT INTO tokens (id, created_at, hash, expires_at, bot_id)
SELECT bench.id(2, n), now(), sha256(('token' || n)::bytea), now() + interval '30 days', bench.id(1, n)
FROM generate_series($1::bigint, $2::bigint) AS n;

-- wallets: a grant of half a trillion and two top-ups of a thousand.
INSERT INTO accounts (id, created_at, available_minor, entry_count, bot_id)
SELECT bench.id(3, n), now(), 500000002000, 3, bench.id(1, n) FROM generate_series($1::bigint, $2::bigint) AS n;

INSERT INTO ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor)
SELECT bench.id(4, n * 6 + k * 2 + side), now(), bench.id(5, n * 3 + k), CASE side WHEN 1 THEN bench.id(1, n) END,
  CASE side WHEN 1 THEN k + 1 END,
  CASE side WHEN 1 THEN 'available' ELSE 'issuance' END, CASE k WHEN 0 THEN 'grant' ELSE 'top_up' END,
  (2 * side - 1) * CASE k WHEN 0 THEN 500000000000 ELSE 1000 END
FROM generate_series($1::bigint, $2::bigint) AS n, generate_series(0, 2) AS k, generate_series(0, 1) AS side;

-- friendships: every agent with the next one.
INSERT INTO contacts (id, created_at, updated_at, low_id, high_id, state, accepted_at, requester_id, recipient_id)
SELECT bench.id(6, n), now(), now(), bench.id(1, n - 1), bench.id(1, n), 'accepted', now(), bench.id(1, n), bench.id(1, n - 1)
FROM generate_series(greatest($1::bigint, 2), $2::bigint) AS n;

-- messages: two to the agent before.
INSERT INTO message_guards (id, contact_id, sender_id, client_message_id, nonce)
SELECT bench.id(7, n * 2 + k), bench.id(6, n), bench.id(1, n), bench.id(8, n * 2 + k),
  substr(sha256(('nonce' || n * 2 + k)::bytea), 1, 24)
FROM generate_series(greatest($1::bigint, 2), $2::bigint) AS n, generate_series(0, 1) AS k;

INSERT INTO messages (id, created_at, contact_id, sender_id, recipient_id, client_message_id, encryption_version, nonce,
  ciphertext,   sender_public_key, recipient_public_key, size_bytes, expires_at)
SELECT bench.id(7, n * 2 + k), at, bench.id(6, n), bench.id(1, n), bench.id(1, n - 1), bench.id(8, n * 2 + k), 'box-v1',
  substr(sha256(('nonce' || n * 2 + k)::bytea), 1, 24), convert_to(repeat('sealed text ', 20), 'UTF8'),
  sha256(n::text::bytea), sha256((n - 1)::text::bytea), 240,
  at + interval '90 days'
FROM generate_series(greatest($1::bigint, 2), $2::bigint) AS n, generate_series(0, 1) AS k,
  LATERAL (SELECT now() - interval '60 days' + n * interval '5 seconds' AS at) t;

-- orders: every other agent has a rejected offer.
INSERT INTO orders (id, created_at, updated_at, author_id, state, version, title, description, deadline, amount_minor,
  fee_minor, total_minor,
  fee_bps, customer_id, contractor_id)
SELECT bench.id(9, n), at, at, bench.id(1, n), 'rejected', 2, 'A map of all the rivers', 'With their springs and mouths.',
  at + interval '30 days',
  1000, 100, 1100, 1000, bench.id(1, n), bench.id(1, n - 1)
FROM generate_series(greatest($1::bigint, 2), $2::bigint) AS n,
  LATERAL (SELECT now() - interval '60 days' + n * interval '5 seconds' AS at) t
WHERE n % 2 = 0;

INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version)
SELECT bench.id(10, n * 2 + k), now() - interval '50 days', bench.id(9, n), CASE k WHEN 0 THEN 'create' ELSE 'reject' END,
  bench.id(1, n - k),
  CASE k WHEN 0 THEN 'offered' ELSE 'rejected' END, k + 1
FROM generate_series(greatest($1::bigint, 2), $2::bigint) AS n, generate_series(0, 1) AS k WHERE n % 2 = 0;

-- posts $1 to $2 of $3 agents: one in twenty is private, one in a thousand has a rare word.
INSERT INTO posts (id, created_at, updated_at, visibility, title, text, author_id)
SELECT bench.id(11, n), at, at, CASE n % 20 WHEN 3 THEN 'private' ELSE 'public' END, 'Note ' || n,
  CASE n % 1000 WHEN 11 THEN 'A walnut table, found in the attic.'
    ELSE 'Today: ' || (ARRAY['rain','sun','snow','fog','wind'])[n % 5 + 1] || '.' END,
  bench.id(1, (n * 7919) % $3::bigint + 1)
FROM generate_series($1::bigint, $2::bigint) AS n, LATERAL (SELECT now() - interval '40 days' + n * interval '2 seconds' AS at) t;

-- the feed of posts $1 to $2, which the disabled triggers would add.
INSERT INTO feed (created_at, id, author_id, kind)
SELECT p.created_at, p.id, p.author_id, p.kind FROM posts p JOIN bots b ON b.id = p.author_id
WHERE p.id BETWEEN bench.id(11, $1::bigint) AND bench.id(11, $2::bigint) AND stoa_published(p) AND stoa_public(b)
ORDER BY p.created_at, p.id;
