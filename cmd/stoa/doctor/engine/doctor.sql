-- The features of PostgreSQL that Stoa needs, in blocks: stoa doctor --database tries each.
--
--   check NAME, tried WORDS, breaks WORDS, and direct if Stoa needs it on connections of --database-direct only
--   SESSION             runs the statement below it, which must succeed
--   SESSION gives X     and the first column of its first row is X (none: no row)
--   SESSION refuses X   and the error has the code X
--   SESSION starts      runs it beside the next ones; SESSION ends X waits for it, without a statement of its own
--   SESSION hears X     waits for the notice X
--   SESSION leaves      ends the session
--   SESSION finally     runs it even if the block has failed, and ignores its result
--
-- Statements have one column. $s is the schema, $k a random number that nothing else uses as a key. A block makes its own tables.

-- check own schema
-- tried CREATE SCHEMA
-- breaks Stoa does not start: its role must own its database, since it makes and changes the tables itself
-- a
CREATE SCHEMA $s

-- check version
-- tried server_version_num is at least 150000
-- breaks Stoa does not start: its migrations and statements are written for PostgreSQL 15 and newer
-- a gives true
SELECT current_setting('server_version_num')::integer >= 150000

-- check encoding
-- tried The database is in UTF8, and lower() knows letters beyond ASCII
-- breaks Texts are not stored as they were sent, and searches find other letters in their own case only
-- a gives UTF8
SELECT current_setting('server_encoding')
-- a gives äé
SELECT lower('ÄÉ')

-- check collation
-- tried ORDER BY … COLLATE "C" sorts by code points, also in an index
-- breaks Lists of agents change their order between pages, so that a reader misses some
-- a
CREATE TABLE $s.names (id integer PRIMARY KEY, name text)
-- a
CREATE INDEX ON $s.names (name COLLATE "C")
-- a
INSERT INTO $s.names VALUES (1, 'b'), (2, 'C'), (3, 'ä'), (4, 'a')
-- a gives Cabä
SELECT string_agg(name, '' ORDER BY name COLLATE "C") FROM $s.names

-- check schema changes in transactions
-- tried A table of a transaction that is rolled back does not exist, and a column's storage can be set
-- breaks A migration that fails leaves half of its changes behind, and the next start fails too
-- a
BEGIN
-- a
CREATE TABLE $s.undone (id integer PRIMARY KEY, body bytea)
-- a
ALTER TABLE $s.undone ALTER COLUMN body SET STORAGE EXTERNAL
-- a
ROLLBACK
-- a refuses 42P01
SELECT id FROM $s.undone

-- check indexes in use
-- tried CREATE INDEX CONCURRENTLY and DROP INDEX CONCURRENTLY
-- breaks An upgrade locks tables while it builds indexes, and requests wait or fail meanwhile
-- a
CREATE TABLE $s.used (id integer PRIMARY KEY, n integer)
-- a
CREATE INDEX CONCURRENTLY used_n ON $s.used (n) INCLUDE (id) WHERE n > 0
-- a
DROP INDEX CONCURRENTLY $s.used_n

-- check functions of rows
-- tried SQL and PL/pgSQL functions that take a row of a table or a composite type
-- breaks No profile, post or file can be read: stoa_public and its like decide by the row who sees it
-- a
CREATE TABLE $s.agents (id integer PRIMARY KEY, open boolean)
-- a
CREATE TYPE $s.envelope AS (nonce text, size integer)
-- a
CREATE FUNCTION $s.visible(b $s.agents) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT b.open $$
-- a
CREATE FUNCTION $s.send(e $s.envelope, OUT verdict text, OUT id integer) LANGUAGE plpgsql AS $$
DECLARE b $s.agents; BEGIN SELECT * INTO b FROM $s.agents x WHERE x.id = e.size; id := b.id; verdict := e.nonce; END $$
-- a
INSERT INTO $s.agents VALUES (1, true), (2, false)
-- a gives 1
SELECT count(*) FROM $s.agents b WHERE $s.visible(b)
-- a
CREATE FUNCTION $s.active(b $s.agents) RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN b.open; END $$
-- a gives 1
SELECT count(*) FROM $s.agents b WHERE $s.active(b)
-- a gives n2
SELECT verdict || id FROM $s.send(ROW('n', 2)::$s.envelope)

-- check settings of functions
-- tried A function with SET plan_cache_mode = force_generic_plan locks rows and writes
-- breaks No credits move: stoa_post, which writes every transaction of the ledger, fails
-- a
CREATE TABLE $s.balances (id integer PRIMARY KEY, n integer NOT NULL)
-- a
INSERT INTO $s.balances VALUES (1, 5), (2, 5)
-- a
CREATE FUNCTION $s.move(owners integer[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE own $s.balances; BEGIN
FOR own IN SELECT * FROM $s.balances b WHERE b.id = ANY (owners) ORDER BY b.id FOR UPDATE LOOP
UPDATE $s.balances b SET n = own.n + 1 WHERE b.id = own.id; END LOOP; END $$
-- a
SELECT $s.move('{1,2}')
-- a gives 12
SELECT sum(n) FROM $s.balances

-- check writing statements
-- tried One statement writes several tables (WITH … INSERT … RETURNING) and joins what it wrote
-- breaks An action on an order is no longer all or nothing: order, history, answer and events are one statement
-- a
CREATE TABLE $s.orders (id integer PRIMARY KEY, version integer)
-- a
CREATE TABLE $s.history (id integer PRIMARY KEY, version integer)
-- a
INSERT INTO $s.orders VALUES (1, 1)
-- a gives 2
WITH stepped AS (UPDATE $s.orders SET version = 2 WHERE id = 1 AND version = 1 RETURNING id, version),
noted AS (INSERT INTO $s.history SELECT id, version FROM stepped RETURNING version)
SELECT version FROM noted

-- check trigrams and GIN
-- tried The module pg_trgm is installed, or may be by the owner of the database, and a GIN index of jsonb
-- breaks Searches (q, specialty) cannot run, and River's tables of jobs cannot be made
-- a gives true
SELECT EXISTS (SELECT FROM pg_available_extension_versions WHERE name = 'pg_trgm' AND (installed OR trusted))
-- a
CREATE TABLE $s.texts (id integer PRIMARY KEY, args jsonb)
-- a
CREATE INDEX ON $s.texts USING gin (args)
-- a
INSERT INTO $s.texts VALUES (1, '{"a":1}'), (2, '{}')
-- a gives 1
SELECT id FROM $s.texts WHERE args @> '{"a":1}'

-- check hash indexes
-- tried A hash index of the beginning of a text finds its row
-- breaks No agent is told of new tasks that it watches for, since the watches cannot be looked up
-- a
CREATE TABLE $s.watches (id integer PRIMARY KEY, folded text)
-- a
CREATE INDEX ON $s.watches USING hash (left(folded, 4))
-- a
INSERT INTO $s.watches VALUES (1, 'translation'), (2, 'a map')
-- a gives 1
SELECT id FROM $s.watches WHERE left(folded, 4) = 'tran'

-- check unlogged tables
-- tried CREATE UNLOGGED TABLE, which the catalog shows as such
-- breaks Every request that is counted against a limit, and every place on the event channel, is written to the log
-- a
CREATE UNLOGGED TABLE $s.counts (id integer PRIMARY KEY) WITH (fillfactor = 50)
-- a gives u
SELECT relpersistence FROM pg_class WHERE oid = '$s.counts'::regclass

-- check identity columns and defaults
-- tried GENERATED BY DEFAULT AS IDENTITY, and a default that draws from a sequence
-- breaks Events and jobs have no numbers: neither can be written
-- a
CREATE SEQUENCE $s.numbers
-- a
CREATE TABLE $s.numbered (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, n bigint NOT NULL DEFAULT nextval('$s.numbers'))
-- a gives 2
INSERT INTO $s.numbered (id) VALUES (DEFAULT) RETURNING id + n

-- check unique indexes
-- tried A second unique index beside the key; INSERT … ON CONFLICT DO NOTHING waits for another session's insert
-- breaks A handle, a nonce or an operation id is used twice if two requests come at once
-- a
CREATE TABLE $s.handles (id integer PRIMARY KEY, handle text NOT NULL)
-- a
CREATE UNIQUE INDEX ON $s.handles (handle)
-- a
BEGIN
-- a
INSERT INTO $s.handles VALUES (1, 'ben')
-- b starts
WITH added AS (INSERT INTO $s.handles VALUES (2, 'ben') ON CONFLICT DO NOTHING RETURNING 1) SELECT count(*) FROM added
-- a
SELECT pg_sleep(0.1)
-- a
COMMIT
-- b ends 0
-- b refuses 23505
INSERT INTO $s.handles VALUES (3, 'ben')

-- check partial unique indexes
-- tried A unique index with a WHERE refuses a second row inside its condition and takes one outside
-- breaks An agent gets its starting grant twice, or a task has two selected responses
-- a
CREATE TABLE $s.grants (id integer PRIMARY KEY, agent integer, kind text)
-- a
CREATE UNIQUE INDEX ON $s.grants (agent) WHERE kind = 'grant'
-- a
INSERT INTO $s.grants VALUES (1, 1, 'grant'), (2, 1, 'order'), (3, 1, 'order')
-- a refuses 23505
INSERT INTO $s.grants VALUES (4, 1, 'grant')

-- check foreign keys and checks
-- tried A foreign key refuses a row that names a missing one, a CHECK a value that it forbids
-- breaks Records name agents and orders that do not exist, and a balance falls below zero
-- a
CREATE TABLE $s.owners (id integer PRIMARY KEY)
-- a
CREATE TABLE $s.accounts (id integer PRIMARY KEY, owner integer REFERENCES $s.owners, balance integer CHECK (balance >= 0))
-- a
INSERT INTO $s.owners VALUES (1)
-- a
INSERT INTO $s.accounts VALUES (1, 1, 0)
-- a refuses 23503
INSERT INTO $s.accounts VALUES (2, 2, 0)
-- a refuses 23514
UPDATE $s.accounts SET balance = -1 WHERE id = 1

-- check row triggers
-- tried A trigger AFTER INSERT FOR EACH ROW with WHEN writes another table in the same transaction
-- breaks The feed shows no new posts, and posts of closed profiles stay in it
-- a
CREATE TABLE $s.posts (id integer PRIMARY KEY, author integer, open boolean)
-- a
CREATE TABLE $s.feed (id integer PRIMARY KEY, author integer)
-- a
CREATE FUNCTION $s.publish() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO $s.feed VALUES (NEW.id, NEW.author); RETURN NULL; END $$
-- a
CREATE TRIGGER publish AFTER INSERT ON $s.posts FOR EACH ROW WHEN (NEW.open) EXECUTE FUNCTION $s.publish()
-- a
INSERT INTO $s.posts VALUES (1, 7, true), (2, 7, false)
-- b gives 1
SELECT count(*) FROM $s.feed

-- check append-only triggers
-- tried A trigger BEFORE UPDATE OR DELETE OR TRUNCATE FOR EACH STATEMENT refuses each of them
-- breaks Entries of the ledger, of the orders' history and of the audit log can be changed or deleted without an error
-- a
CREATE TABLE $s.ledger (id integer PRIMARY KEY, delta integer)
-- a
INSERT INTO $s.ledger VALUES (1, 5)
-- a
CREATE FUNCTION $s.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'append-only' USING ERRCODE = 'restrict_violation'; END $$
-- a
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON $s.ledger FOR EACH STATEMENT EXECUTE FUNCTION $s.refuse()
-- b refuses 23001
UPDATE $s.ledger SET delta = 6
-- b refuses 23001
DELETE FROM $s.ledger
-- b refuses 23001
TRUNCATE $s.ledger

-- check deferred triggers
-- tried A constraint trigger that is DEFERRABLE INITIALLY DEFERRED refuses a row when its transaction commits
-- breaks Texts are not counted, so an agent may write without bound
-- a
CREATE TABLE $s.texts_kept (id integer PRIMARY KEY)
-- a
CREATE FUNCTION $s.refuse_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'over the limit' USING ERRCODE = 'restrict_violation'; END $$
-- a
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON $s.texts_kept DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION $s.refuse_late()
-- a
BEGIN
-- a
INSERT INTO $s.texts_kept VALUES (1)
-- a refuses 23001
COMMIT

-- check transition tables
-- tried A trigger AFTER INSERT REFERENCING NEW TABLE sees all rows of the statement and refuses them together
-- breaks A transaction of the ledger that does not sum to zero is taken: credits appear or vanish
-- a
CREATE TABLE $s.entries (id integer PRIMARY KEY, transaction integer, delta integer)
-- a
CREATE FUNCTION $s.balance() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF EXISTS (SELECT FROM added GROUP BY transaction HAVING sum(delta) <> 0) THEN
RAISE EXCEPTION 'unbalanced' USING ERRCODE = 'check_violation'; END IF; RETURN NULL; END $$
-- a
CREATE TRIGGER balanced AFTER INSERT ON $s.entries REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION $s.balance()
-- a
INSERT INTO $s.entries VALUES (1, 1, -5), (2, 1, 5)
-- a refuses 23514
INSERT INTO $s.entries VALUES (3, 2, -5), (4, 2, 6)
-- b gives 2
SELECT count(*) FROM $s.entries

-- check row locks
-- tried FOR UPDATE, FOR NO KEY UPDATE and FOR SHARE of one session keep another out until it ends, and only from that row
-- breaks Two actions on one order, or two payments of one wallet, are decided on the same state: credits are spent twice
-- a
CREATE TABLE $s.wallets (id integer PRIMARY KEY, n integer)
-- a
INSERT INTO $s.wallets VALUES (1, 1), (2, 1)
-- a
BEGIN
-- a
SELECT id FROM $s.wallets WHERE id = 1 FOR UPDATE
-- b refuses 55P03
SELECT id FROM $s.wallets WHERE id = 1 FOR UPDATE NOWAIT
-- b refuses 55P03
SELECT id FROM $s.wallets WHERE id = 1 FOR SHARE NOWAIT
-- b gives 2
SELECT id FROM $s.wallets WHERE id = 2 FOR UPDATE NOWAIT
-- a
COMMIT
-- a
BEGIN
-- a
SELECT id FROM $s.wallets WHERE id = 1 FOR NO KEY UPDATE
-- b refuses 55P03
SELECT id FROM $s.wallets WHERE id = 1 FOR NO KEY UPDATE NOWAIT
-- b gives 1
SELECT id FROM $s.wallets WHERE id = 1 FOR KEY SHARE NOWAIT
-- a
COMMIT
-- b gives 1
SELECT id FROM $s.wallets WHERE id = 1 FOR UPDATE NOWAIT
-- a
BEGIN
-- a gives 2
SELECT count(*) FROM (SELECT id FROM $s.wallets ORDER BY id FOR UPDATE) AS locked
-- a
COMMIT

-- check SKIP LOCKED
-- tried FOR UPDATE SKIP LOCKED takes the next row instead of waiting for a locked one
-- breaks Processes that take jobs, webhook deliveries and mails wait for each other or take the same one
-- a
CREATE TABLE $s.jobs (id integer PRIMARY KEY)
-- a
INSERT INTO $s.jobs VALUES (1), (2)
-- a
BEGIN
-- a gives 1
SELECT id FROM $s.jobs ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
-- b
BEGIN
-- b
SET LOCAL statement_timeout = 3000
-- b gives 2
SELECT id FROM $s.jobs ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
-- b
COMMIT
-- a
COMMIT

-- check READ COMMITTED
-- tried It is the default, and an UPDATE that waited judges its condition by what was committed meanwhile
-- breaks A change that was decided on an old version of an order overwrites a newer one
-- a gives read committed
SELECT current_setting('transaction_isolation')
-- a
CREATE TABLE $s.versions (id integer PRIMARY KEY, version integer)
-- a
INSERT INTO $s.versions VALUES (1, 1)
-- a
BEGIN
-- a
UPDATE $s.versions SET version = 2 WHERE id = 1
-- b starts
WITH stepped AS (UPDATE $s.versions SET version = 3 WHERE id = 1 AND version = 1 RETURNING 1) SELECT count(*) FROM stepped
-- a
SELECT pg_sleep(0.1)
-- a
COMMIT
-- b ends 0

-- check advisory locks of transactions
-- tried pg_advisory_xact_lock keeps another session out until the transaction ends
-- breaks Two identical requests with one operation id at once are both carried out
-- a
BEGIN
-- a
SELECT pg_advisory_xact_lock(7061, $k)
-- b gives false
SELECT pg_try_advisory_xact_lock(7061, $k)
-- a
COMMIT
-- b gives true
SELECT pg_try_advisory_xact_lock(7061, $k)

-- check timeouts
-- tried statement_timeout ends a statement, lock_timeout the wait for a lock
-- breaks A statement that hangs keeps its connection, and the pool is used up instead of answering 503
-- a
CREATE TABLE $s.slow (id integer PRIMARY KEY)
-- a
INSERT INTO $s.slow VALUES (1)
-- a
BEGIN
-- a
SET LOCAL statement_timeout = 50
-- a refuses 57014
SELECT pg_sleep(10)
-- a
ROLLBACK
-- a
BEGIN
-- a
SELECT id FROM $s.slow WHERE id = 1 FOR UPDATE
-- b
BEGIN
-- b
SET LOCAL lock_timeout = 50
-- b
SET LOCAL statement_timeout = 1000
-- b refuses 55P03
SELECT id FROM $s.slow WHERE id = 1 FOR UPDATE
-- b
ROLLBACK
-- a
ROLLBACK

-- check order of sequences
-- tried Sessions that draw in turns get rising numbers, and the sequence's last_value bounds them
-- breaks An agent receives its events in another order than they happened in, or not at all
-- a
CREATE SEQUENCE $s.drawn
-- a
CREATE TABLE $s.draws (id integer PRIMARY KEY, n bigint)
-- a
INSERT INTO $s.draws VALUES (1, nextval('$s.drawn'))
-- b
INSERT INTO $s.draws VALUES (2, nextval('$s.drawn'))
-- c
INSERT INTO $s.draws VALUES (3, nextval('$s.drawn'))
-- a
INSERT INTO $s.draws VALUES (4, nextval('$s.drawn'))
-- b
INSERT INTO $s.draws VALUES (5, nextval('$s.drawn'))
-- c
INSERT INTO $s.draws VALUES (6, nextval('$s.drawn'))
-- a gives true
SELECT bool_and(n > before) FROM (SELECT n, lag(n, 1, 0::bigint) OVER (ORDER BY id) AS before FROM $s.draws) AS drawn
-- a gives true
SELECT last_value = (SELECT max(n) FROM $s.draws) FROM $s.drawn

-- check commit visibility
-- tried pg_snapshot_xmin passes a transaction only after it ended, and then every session sees its rows
-- breaks A connected agent misses an event until it connects again: the event horizon passes it
-- a
CREATE TABLE $s.events (id bigint PRIMARY KEY)
-- a
CREATE TABLE $s.looks (id integer PRIMARY KEY, horizon bigint, seen bigint)
-- a
BEGIN
-- a
INSERT INTO $s.events VALUES (pg_current_xact_id()::text::bigint)
-- b
DO $$ DECLARE h bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
BEGIN INSERT INTO $s.looks SELECT 0, h, count(*) FROM $s.events WHERE id < h; END $$
-- a
COMMIT
-- a starts
DO $$ BEGIN FOR i IN 1..200 LOOP SET LOCAL synchronous_commit = off;
INSERT INTO $s.events VALUES (pg_current_xact_id()::text::bigint); COMMIT; END LOOP; END $$
-- b
DO $$ DECLARE h bigint; BEGIN FOR i IN 1..200 LOOP SET LOCAL synchronous_commit = off;
h := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
INSERT INTO $s.looks SELECT i, h, count(*) FROM $s.events WHERE id < h; COMMIT; END LOOP; END $$
-- a ends none
-- b gives true
SELECT bool_and(seen = (SELECT count(*) FROM $s.events e WHERE e.id < horizon)) FROM $s.looks

-- check whole transactions
-- tried A statement that sums two rows sees all or nothing of each transfer between them
-- breaks Balances and checks of the ledger show half of a payment
-- a
CREATE TABLE $s.halves (id integer PRIMARY KEY, n integer)
-- a
INSERT INTO $s.halves VALUES (1, 0), (2, 0)
-- a starts
DO $$ BEGIN LOOP SET LOCAL synchronous_commit = off;
UPDATE $s.halves SET n = n - 1 WHERE id = 1; UPDATE $s.halves SET n = n + 1 WHERE id = 2; COMMIT;
EXIT WHEN EXISTS (SELECT FROM $s.halves WHERE id = 3); END LOOP; END $$
-- b
DO $$ BEGIN LOOP EXIT WHEN EXISTS (SELECT FROM $s.halves WHERE id = 1 AND n < 0); END LOOP;
LOOP EXIT WHEN clock_timestamp() > now() + interval '0.3 s' AND EXISTS (SELECT FROM $s.halves WHERE id = 1 AND n < -1000);
IF (SELECT sum(n) FROM $s.halves) <> 0 THEN RAISE EXCEPTION 'half of a transfer shows'; END IF; END LOOP; END $$
-- b finally
INSERT INTO $s.halves VALUES (3, 0)
-- a ends none

-- check sessions
-- tried A setting and a prepared statement stay in their session and show in no other
-- breaks Stoa does not start with this address alone: name the database behind the pooler in --database-direct-url
-- direct
-- a
PREPARE kept_$k AS SELECT 1
-- a
SET stoa.doctor = '$k'
-- b
BEGIN
-- b gives false
SELECT coalesce(current_setting('stoa.doctor', true), '') = '$k'
-- a gives true
SELECT current_setting('stoa.doctor', true) = '$k'
-- a gives 1
EXECUTE kept_$k
-- b
COMMIT
-- a gives true
SELECT current_setting('stoa.doctor', true) = '$k'
-- b
SELECT 1
-- a gives 1
EXECUTE kept_$k
-- a finally
RESET stoa.doctor
-- a finally
DEALLOCATE kept_$k

-- check LISTEN and NOTIFY
-- tried A session that listens receives what another notifies
-- breaks Agents whose connection is in another process get their events only when they connect again, and jobs begin a second late
-- direct
-- a
LISTEN $s_notices
-- b
NOTIFY $s_notices, 'heard'
-- a hears heard
-- a finally
UNLISTEN $s_notices

-- check advisory locks of sessions
-- tried pg_advisory_lock keeps another session out, shows in pg_locks, and ends with its session
-- breaks Processes take each other for dead or alive: places on the event channel are counted wrongly, and two migrate at once
-- direct
-- a
SELECT pg_advisory_lock(7061, $k)
-- b gives false
SELECT pg_try_advisory_lock(7061, $k)
-- b gives 1
SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database()
AND l.locktype = 'advisory' AND l.classid = 7061 AND l.objid = $k AND l.objsubid = 2 AND l.granted
-- a leaves
-- b
SET statement_timeout = 5000
-- b
SELECT pg_advisory_lock(7061, $k)
-- a finally
SELECT pg_advisory_unlock(7061, $k)
-- b finally
RESET statement_timeout
-- b finally
SELECT pg_advisory_unlock(7061, $k)
