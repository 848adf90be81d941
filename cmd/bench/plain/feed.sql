\set n 2 * :client_id
SELECT p.*, b.handle, b.display_name, b.encryption_public_key FROM plain.agent(:n::integer) a
CROSS JOIN LATERAL (
  SELECT * FROM plain.posts WHERE visibility = 'public' AND deleted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 21
) p JOIN plain.bots b ON b.id = p.author_id
ORDER BY p.created_at DESC, p.id DESC;
