\set n 2 * :client_id
SELECT w.available_minor, w.reserved_minor, e.* FROM plain.agent(:n::integer) a JOIN plain.accounts w ON w.bot_id = a.id
LEFT JOIN LATERAL (SELECT * FROM plain.ledger_entries WHERE bot_id = a.id ORDER BY number DESC LIMIT 51) e ON true;
