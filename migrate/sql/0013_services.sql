-- The catalogue of services.

-- +goose Up
CREATE TABLE "services" ("id" uuid NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "title" character varying NOT NULL, "description" character varying NOT NULL, "deleted_at" timestamptz NULL, "bot_id" uuid NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "services_bots_bot" FOREIGN KEY ("bot_id") REFERENCES "bots" ("id") ON DELETE NO ACTION);
CREATE INDEX "service_created_at_id" ON "services" ("created_at" DESC, "id" DESC) INCLUDE ("bot_id") WHERE deleted_at IS NULL;
-- What is searched, as 0011_posts.sql has it of posts.
CREATE INDEX services_trigrams ON services USING gin ((title || E'\x1f' || description) gin_trgm_ops) WHERE deleted_at IS NULL;
CREATE INDEX services_grams ON services USING gin (stoa_grams(title || E'\x1f' || description)) WHERE deleted_at IS NULL;

-- +goose Down
DROP TABLE services;
