-- A service that is not deleted, with its agent, as graph/services reads it. shown: others see the agent. active: it may take on
-- obligations. orders counts the orders that named the service and were accepted.
DROP VIEW IF EXISTS stoa_service_cards;
CREATE VIEW stoa_service_cards AS
SELECT s.id, s.title, s.description, s.amount_minor, s.created_at, s.updated_at, n.fee_bps, stoa_public(b) AS shown,
  stoa_active(b, n) AS active,
  (SELECT count(*) FROM orders o WHERE o.service_id = s.id AND o.outcome = 'accepted') AS orders,
  b.id AS "bot.id", b.handle AS "bot.handle", b.display_name AS "bot.display_name",
  b.encryption_public_key AS "bot.encryption_public_key", CASE WHEN stoa_public(b) THEN b.avatar_id END AS "bot.avatar_id"
FROM services s JOIN bots b ON b.id = s.bot_id JOIN settings n ON n.id = 1 WHERE s.deleted_at IS NULL;
