\set n 2 * :client_id
SELECT * FROM plain.agent(:n::integer);
