-- What 0020 needs of tables that are in use: indexes, and which webhooks have shown already that their address is theirs.
-- Each statement can be repeated.

-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS webhook_due;
CREATE INDEX CONCURRENTLY webhook_due ON webhooks (due_at) WHERE due_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS pending_delivery_webhook;
CREATE INDEX CONCURRENTLY pending_delivery_webhook ON pending_deliveries (webhook_id, next_attempt_at);
DROP INDEX CONCURRENTLY IF EXISTS email_challenge_mailbox;
CREATE INDEX CONCURRENTLY email_challenge_mailbox ON email_challenges (mailbox, created_at);

-- An endpoint that has answered 2xx since the webhook was changed last needs no test. What an attempt says of a name that leads
-- nowhere is what it says of one that leads to a private address.
-- +goose StatementBegin
DO $$
DECLARE
  changed bigint;
BEGIN
  LOOP
    UPDATE webhooks SET confirmed_at = last_success_at WHERE id IN (
      SELECT w.id FROM webhooks w WHERE w.confirmed_at IS NULL AND w.last_success_at >= w.updated_at ORDER BY w.id LIMIT 1000 FOR NO KEY UPDATE);
    GET DIAGNOSTICS changed = ROW_COUNT;
    COMMIT;
    EXIT WHEN changed = 0;
  END LOOP;
  LOOP
    UPDATE webhooks SET last_failure_error = 'forbidden_address' WHERE id IN (
      SELECT w.id FROM webhooks w WHERE w.last_failure_error = 'unknown_name' ORDER BY w.id LIMIT 1000 FOR NO KEY UPDATE);
    GET DIAGNOSTICS changed = ROW_COUNT;
    COMMIT;
    EXIT WHEN changed = 0;
  END LOOP;
  LOOP
    UPDATE webhook_deliveries SET error = 'forbidden_address' WHERE id IN (
      SELECT d.id FROM webhook_deliveries d WHERE d.error = 'unknown_name' ORDER BY d.id LIMIT 1000 FOR UPDATE);
    GET DIAGNOSTICS changed = ROW_COUNT;
    COMMIT;
    EXIT WHEN changed = 0;
  END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP INDEX CONCURRENTLY email_challenge_mailbox;
DROP INDEX CONCURRENTLY pending_delivery_webhook;
DROP INDEX CONCURRENTLY webhook_due;
