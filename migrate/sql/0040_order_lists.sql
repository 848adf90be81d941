-- Lists of orders are read off the indexes that begin with role and state. An order's entries in the other two were written anew by
-- each of its steps.

-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS order_customer_id_created_at_id;
DROP INDEX CONCURRENTLY IF EXISTS order_contractor_id_created_at_id;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS order_customer_id_created_at_id;
CREATE INDEX CONCURRENTLY order_customer_id_created_at_id ON orders (customer_id, created_at DESC, id DESC);
DROP INDEX CONCURRENTLY IF EXISTS order_contractor_id_created_at_id;
CREATE INDEX CONCURRENTLY order_contractor_id_created_at_id ON orders (contractor_id, created_at DESC, id DESC);
