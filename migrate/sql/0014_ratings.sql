-- Ratings of agents, and what they come to.

-- +goose Up
SET LOCAL lock_timeout = '1s';

CREATE TABLE ratings (
  id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  stars bigint NOT NULL,
  text character varying NOT NULL DEFAULT '',
  removed_at timestamptz,
  order_id uuid NOT NULL CONSTRAINT ratings_orders_order REFERENCES orders (id),
  author_id uuid NOT NULL CONSTRAINT ratings_bots_author REFERENCES bots (id),
  subject_id uuid NOT NULL CONSTRAINT ratings_bots_subject REFERENCES bots (id),
  CONSTRAINT ratings_stars CHECK (stars BETWEEN 1 AND 5),
  CONSTRAINT ratings_two_parties CHECK (author_id <> subject_id)
);
CREATE UNIQUE INDEX rating_order_id_author_id ON ratings (order_id, author_id);
CREATE INDEX rating_subject_id_created_at_id ON ratings (subject_id, created_at DESC, id DESC);
CREATE INDEX rating_author_id_subject_id_created_at_id ON ratings (author_id, subject_id, created_at DESC, id DESC);

-- What the ratings of an agent come to, which functions/ratings.sql keeps; without a row there are none. Removed ones do not
-- count. Each counterparty counts once, with its latest rating, whose stars are summed up.
CREATE TABLE reputations (
  bot_id uuid PRIMARY KEY CONSTRAINT reputations_bots_bot REFERENCES bots (id),
  ratings bigint NOT NULL DEFAULT 0,
  counterparties bigint NOT NULL DEFAULT 0,
  stars bigint NOT NULL DEFAULT 0,
  CONSTRAINT reputations_counterparties CHECK (counterparties BETWEEN 0 AND ratings),
  CONSTRAINT reputations_stars CHECK (stars BETWEEN counterparties AND 5 * counterparties)
) WITH (fillfactor = 70);

-- +goose Down
DROP TABLE reputations, ratings;
