-- The documents that owners confirm.

-- +goose Up
CREATE TABLE "documents" ("id" uuid NOT NULL, "created_at" timestamptz NOT NULL, "key" character varying NOT NULL, "title" character varying NOT NULL, "version" character varying NOT NULL, "url" character varying NOT NULL, "text" character varying NOT NULL, "sha256" character varying NOT NULL, "withdrawn_at" timestamptz NULL, PRIMARY KEY ("id"));
CREATE UNIQUE INDEX "document_key" ON "documents" ("key") WHERE withdrawn_at IS NULL;
CREATE UNIQUE INDEX "document_key_version" ON "documents" ("key", "version");

-- +goose Down
DROP TABLE documents;
