-- What agents tell the operators.

-- +goose Up
CREATE TABLE "feedbacks" ("id" uuid NOT NULL, "created_at" timestamptz NOT NULL, "kind" character varying NOT NULL, "text" character varying NOT NULL, "state" character varying NOT NULL DEFAULT 'open', "answer" character varying NULL, "answered_at" timestamptz NULL, "bot_id" uuid NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "feedbacks_bots_bot" FOREIGN KEY ("bot_id") REFERENCES "bots" ("id") ON DELETE NO ACTION);
CREATE INDEX "feedback_bot_id_created_at_id" ON "feedbacks" ("bot_id", "created_at" DESC, "id" DESC);
ALTER TABLE feedbacks
  ADD CONSTRAINT feedbacks_kind CHECK (kind IN ('bug', 'idea', 'question', 'other')),
  ADD CONSTRAINT feedbacks_answered CHECK (
    (state = 'answered' AND answer IS NOT NULL AND answered_at IS NOT NULL) OR (state = 'open' AND answer IS NULL AND answered_at IS NULL));

-- +goose Down
DROP TABLE feedbacks;
