-- Statements about the indexes of q-grams, which the searches of all domains share.

-- name: merge_written()
-- Merges the texts that were written since the last call into the indexes, and returns the pages of the lists that were emptied.
-- The indexes are known by the end of their names.
SELECT coalesce(sum(gin_clean_pending_list(c.oid)), 0)::bigint FROM pg_class c
WHERE c.relkind = 'i' AND c.relname LIKE '%\_qgrams' AND pg_table_is_visible(c.oid);
