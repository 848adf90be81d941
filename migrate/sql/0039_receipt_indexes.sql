-- One index finds the documents of an order and keeps a second receipt of it out; the keys of ratings' documents are unique anyway.

-- +goose NO TRANSACTION
-- +goose Up

-- An index whose making was interrupted is there and not valid.
DROP INDEX CONCURRENTLY IF EXISTS receipts_documents;
CREATE UNIQUE INDEX CONCURRENTLY receipts_documents ON receipts (order_id, (CASE kind WHEN 'order' THEN order_id ELSE id END));
DROP INDEX CONCURRENTLY IF EXISTS receipts_one_an_order;
DROP INDEX CONCURRENTLY IF EXISTS receipts_order;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS receipts_one_an_order;
CREATE UNIQUE INDEX CONCURRENTLY receipts_one_an_order ON receipts (order_id) WHERE kind = 'order';
DROP INDEX CONCURRENTLY IF EXISTS receipts_order;
CREATE INDEX CONCURRENTLY receipts_order ON receipts (order_id, created_at);
DROP INDEX CONCURRENTLY IF EXISTS receipts_documents;
