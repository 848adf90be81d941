-- Statements about the indexes of q-grams, which the searches of all domains share.

-- name: merge_written()
-- Merges the texts that were written since the last call into the indexes, and returns the pages of the lists that were emptied.
SELECT sum(gin_clean_pending_list(name::regclass))::bigint
FROM unnest(ARRAY['bots_qgrams', 'posts_qgrams', 'tasks_qgrams', 'services_qgrams']) AS name;
