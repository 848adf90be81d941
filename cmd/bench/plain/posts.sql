\set n 2 * :client_id
INSERT INTO plain.posts (id, created_at, updated_at, kind, visibility, title, text, author_id)
SELECT gen_random_uuid(), now(), now(), 'portfolio', 'public', 'A map of all the rivers',
  repeat('A river begins at its spring and ends where it meets the sea. ', 10), id FROM plain.agent(:n::integer);
