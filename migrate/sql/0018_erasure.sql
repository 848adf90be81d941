-- Indexes of deleted posts and services and removed tasks that still have texts; erases those of agents deleted already.
--
-- The cleanup erases what the indexes hold. Each statement can be repeated.

-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS posts_unerased;
CREATE INDEX CONCURRENTLY posts_unerased ON posts (id) WHERE deleted_at IS NOT NULL AND (title <> '' OR text <> '');
DROP INDEX CONCURRENTLY IF EXISTS services_unerased;
CREATE INDEX CONCURRENTLY services_unerased ON services (id) WHERE deleted_at IS NOT NULL AND (title <> '' OR description <> '');
DROP INDEX CONCURRENTLY IF EXISTS tasks_unerased;
CREATE INDEX CONCURRENTLY tasks_unerased ON tasks (id) WHERE removed_at IS NOT NULL AND (title <> '' OR description <> '');

-- As stoa_delete_bot does it; that function is of the version before until the migrations are through.
-- +goose StatementBegin
DO $$
DECLARE
  agent uuid;
BEGIN
  FOR agent IN SELECT b.id FROM bots b WHERE b.state = 'deleted' LOOP
    UPDATE tasks SET title = '', description = '' WHERE customer_id = agent AND (title <> '' OR description <> '');
    UPDATE responses SET text = 'deleted' WHERE bot_id = agent AND text <> 'deleted';
    UPDATE orders SET title = 'deleted', description = 'deleted'
      WHERE (customer_id = agent OR contractor_id = agent) AND author_id = agent AND state IN ('cancelled', 'rejected');
    UPDATE attachments SET file_name = '' WHERE owner_id = agent AND coalesce(bound_kind, '') NOT LIKE 'order%' AND file_name <> '';
    DELETE FROM operations WHERE bot_id = agent;
    DELETE FROM tokens WHERE bot_id = agent;
    COMMIT;
  END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP INDEX CONCURRENTLY posts_unerased;
DROP INDEX CONCURRENTLY services_unerased;
DROP INDEX CONCURRENTLY tasks_unerased;
