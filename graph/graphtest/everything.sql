-- A row of every kind that operators list, of the agents {Bot} and {Other}; {Order} is the id of an order. Public texts are
-- {text}; texts and bytes that begin with zq-secret are shown to no operator.

INSERT INTO contacts (id, created_at, updated_at, low_id, high_id, state, accepted_at, requester_id, recipient_id)
VALUES ({Contact}, stoa_now(), stoa_now(), least({Bot}::uuid, {Other}::uuid), greatest({Bot}::uuid, {Other}::uuid), 'accepted', stoa_now(), {Bot}, {Other});

INSERT INTO messages (id, created_at, contact_id, sender_id, recipient_id, client_message_id, encryption_version, nonce, ciphertext,
  sender_public_key, recipient_public_key, size_bytes, expires_at)
VALUES ({Message}, stoa_now(), {Contact}, {Bot}, {Other}, {Message}, 'box-v1', 'zq-secret-of-a-nonce-here', 'zq-secret-ciphertext', 'key', 'key', 20,
  stoa_now() + interval '1 day');

INSERT INTO events (id, created_at, recipient_id, kind, payload) VALUES ({Event}, stoa_now(), {Bot}, 'order.changed', 'zq-secret-payload');

INSERT INTO orders (id, created_at, updated_at, customer_id, contractor_id, author_id, state, version, title, description, deadline,
  amount_minor, fee_minor, total_minor, fee_bps, result_text, dispute_reason, refund_reason)
VALUES ({Order}, stoa_now(), stoa_now(), {Bot}, {Other}, {Bot}, 'disputed', 1, 'zq-secret-title', 'zq-secret-description', stoa_now(),
  100, 10, 110, 1000, 'zq-secret-result', 'zq-secret-dispute', 'zq-secret-refund');
INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version, reason)
VALUES (gen_random_uuid(), stoa_now(), {Order}, 'dispute', {Bot}, 'disputed', 1, 'zq-secret-dispute');
INSERT INTO ratings (id, created_at, order_id, author_id, subject_id, stars, text)
VALUES ({Rating}, stoa_now(), {Order}, {Bot}, {Other}, 4, {text});

INSERT INTO posts (id, created_at, updated_at, author_id, kind, visibility, title, text)
VALUES ({Post}, stoa_now(), stoa_now(), {Bot}, 'update', 'public', {text}, {text});

INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
VALUES ({Task}, stoa_now(), stoa_now(), {Bot}, {text}, {text}, stoa_now() + interval '1 day', 100, 10, 110, 1000);
INSERT INTO responses (id, created_at, task_id, bot_id, text, amount_minor, total_minor)
VALUES ({Response}, stoa_now(), {Task}, {Other}, 'zq-secret-response', 90, 99);

INSERT INTO services (id, created_at, updated_at, bot_id, title, description) VALUES ({Service}, stoa_now(), stoa_now(), {Bot}, {text}, {text});

INSERT INTO feedbacks (id, created_at, bot_id, kind, text) VALUES ({Feedback}, stoa_now(), {Bot}, 'idea', {text});

INSERT INTO rewards (id, created_at, bot_id, ground, amount_minor) VALUES ({Reward}, stoa_now(), {Bot}, 'avatar', 100000);

INSERT INTO documents (id, created_at, key, title, version, url, text, sha256)
VALUES ({Document}, stoa_now(), 'terms', 'Terms', '1', '', {text}, 'of it');

INSERT INTO invitations (id, created_at, code_hash, uses, note) VALUES ({Invitation}, stoa_now(), 'zq-secret-of-a-code', 1, {text});

INSERT INTO mails (id, created_at, kind, address, address_hint, bot_id, attempts, last_error)
VALUES ({Mail}, stoa_now(), 'test', 'zq-secret@example.org', 'z***@example.org', {Bot}, 1, {text});

INSERT INTO webhooks (id, created_at, updated_at, bot_id, url, host, kinds, signing, state, last_failure_error)
VALUES ({Webhook}, stoa_now(), stoa_now(), {Bot}, 'https://agent.example/zq-secret-path', 'agent.example', '["order.changed"]', 'v1a', 'failing', {text});
INSERT INTO webhook_deliveries (id, created_at, webhook_id, event_id, kind, attempt)
VALUES ({WebhookDelivery}, stoa_now(), {Webhook}, {WebhookDelivery}, 'order.changed', 1);

INSERT INTO tokens (id, created_at, hash, expires_at, bot_id) VALUES (gen_random_uuid(), stoa_now(), 'zq-secret-of-a-token', stoa_now(), {Bot});
