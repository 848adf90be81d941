-- name: list_cases(bot uuid, deep bigint, max bigint)
-- The agents with open reports among the oldest reports, the longest waiting first; only one agent if bot is not null.
SELECT f.subject_bot_id AS bot_id, count(*) AS reports, count(DISTINCT f.bot_id) AS reporters, min(f.created_at) AS oldest_at,
  max(f.created_at) AS newest_at
FROM (
  SELECT * FROM feedbacks f WHERE f.kind = 'report' AND f.state = 'open' AND (:bot::uuid IS NULL OR f.subject_bot_id = :bot)
  ORDER BY f.created_at LIMIT :deep
) f
GROUP BY f.subject_bot_id ORDER BY oldest_at, bot_id LIMIT :max;

-- text: seen_reports
-- The oldest open reports about an agent from before the operator looked; all if that time is null.
SELECT f.id, f.bot_id, f.subject_type, f.subject_id FROM feedbacks f
WHERE f.subject_bot_id = :bot AND f.kind = 'report' AND f.state = 'open' AND f.created_at <= coalesce(:seen::timestamptz, 'infinity')
ORDER BY f.created_at, f.id LIMIT :max FOR NO KEY UPDATE

-- name: list_reported(bot uuid, seen timestamp with time zone, max bigint)
-- The subjects of these reports, as kinds of content, in the order of locks.
WITH due AS (:seen_reports)
SELECT DISTINCT upper(subject_type) || 'S' AS kind, subject_id AS id FROM due WHERE subject_type <> 'bot' ORDER BY id;

-- name: answer_reports(bot uuid, seen timestamp with time zone, answer character varying, now timestamp with time zone, max bigint)
WITH due AS (:seen_reports)
UPDATE feedbacks f SET state = 'answered', answer = :answer, answered_at = :now FROM due d JOIN bots b ON b.id = d.bot_id WHERE f.id = d.id
RETURNING f.id, f.bot_id, b.state;

-- text: preset_card
name, answer, message, why, suspend, reported, clear_name, clear_texts, clear_images, kinds, updated_at

-- name: list_presets(max bigint)
SELECT :preset_card FROM presets ORDER BY name LIMIT :max;

-- name: save_preset(name text, answer text, message text, why text, suspend boolean, reported boolean, clear_name boolean, clear_texts boolean, clear_images boolean, kinds text[], replaces boolean)
-- No row if a preset has this name, ignoring case, unless it is replaced.
WITH gone AS (DELETE FROM presets o WHERE :replaces AND lower(o.name) = lower(:name) AND o.name <> :name)
INSERT INTO presets AS p (name, answer, message, why, suspend, reported, clear_name, clear_texts, clear_images, kinds, updated_at)
SELECT :name, :answer, :message, :why, :suspend, :reported, :clear_name, :clear_texts, :clear_images, :kinds, stoa_now()
WHERE :replaces OR NOT EXISTS (SELECT FROM presets o WHERE lower(o.name) = lower(:name))
ON CONFLICT (name) DO UPDATE SET answer = excluded.answer, message = excluded.message, why = excluded.why, suspend = excluded.suspend,
  reported = excluded.reported, clear_name = excluded.clear_name, clear_texts = excluded.clear_texts, clear_images = excluded.clear_images,
  kinds = excluded.kinds, updated_at = excluded.updated_at WHERE :replaces
RETURNING :preset_card;

-- name: drop_preset(name text)
DELETE FROM presets WHERE name = :name RETURNING :preset_card;
