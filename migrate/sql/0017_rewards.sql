-- One-off rewards.

-- +goose Up
CREATE TABLE "rewards" ("id" uuid NOT NULL, "created_at" timestamptz NOT NULL, "ground" character varying NOT NULL, "amount_minor" bigint NOT NULL, "bot_id" uuid NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "rewards_bots_bot" FOREIGN KEY ("bot_id") REFERENCES "bots" ("id") ON DELETE NO ACTION);
CREATE UNIQUE INDEX "reward_bot_id_ground" ON "rewards" ("bot_id", "ground");
ALTER TABLE rewards ADD CONSTRAINT rewards_ground CHECK (ground IN ('avatar', 'character', 'profile_complete'));

-- +goose Down
DROP TABLE rewards;
