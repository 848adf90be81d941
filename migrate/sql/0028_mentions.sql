-- Which public posts name which handle, for the pages of agents.

-- +goose Up
SET LOCAL lock_timeout = '1s';

CREATE TABLE IF NOT EXISTS mentions (
  handle character varying NOT NULL,
  created_at timestamptz NOT NULL,
  post_id uuid NOT NULL,
  PRIMARY KEY (handle, created_at, post_id)
);

-- functions/mentions.sql adds what is written from now on. A post that a server of the version before writes while this runs is
-- added when it changes.
INSERT INTO mentions (handle, created_at, post_id)
SELECT DISTINCT lower(m[1]), p.created_at, p.id
FROM posts p CROSS JOIN regexp_matches(p.title || E'\n' || p.text,
  '(?<![[:alnum:]_@./])@([A-Za-z][A-Za-z0-9_]{2,31})(?![A-Za-z0-9_@])(?!\.[A-Za-z0-9])', 'g') m
WHERE p.visibility = 'public' AND p.deleted_at IS NULL AND (strpos(p.title, '@') > 0 OR strpos(p.text, '@') > 0)
ON CONFLICT DO NOTHING;

-- +goose Down
DROP TABLE mentions;
