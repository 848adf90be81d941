package engine

import "strconv"

// ownSchema is the name of the first check, which makes the schema for the others.
const ownSchema = "own schema"

// checks are the features that Stoa rests on. TestTheSchemaRestsOnNothingElse compares them with a migrated database.
var checks = append([]check{
	{
		name:    ownSchema,
		tried:   "CREATE SCHEMA",
		promise: "Stoa does not start: its role must own its database, since it makes and changes the tables itself",
	},
	{
		name:    "version",
		tried:   "server_version_num is at least " + strconv.Itoa(MinServerVersion),
		promise: "Stoa does not start: its migrations and statements are written for PostgreSQL 15 and newer",
		steps: []step{
			gives("a", "SELECT current_setting('server_version_num')::integer >= "+strconv.Itoa(MinServerVersion), "true"),
		},
	},
	{
		name:    "encoding",
		tried:   "The database is in UTF8, and lower() knows letters beyond ASCII",
		promise: "Texts are not stored as they were sent, and searches find other letters in their own case only",
		steps:   []step{gives("a", "SELECT current_setting('server_encoding')", "UTF8"), gives("a", "SELECT lower('ÄÉ')", "äé")},
	},
	{
		name:    "collation",
		tried:   `ORDER BY … COLLATE "C" sorts by code points, also in an index`,
		promise: "Lists of agents change their order between pages, so that a reader misses some",
		steps: []step{
			table("names", "id integer PRIMARY KEY, name text"),
			run("a", `CREATE INDEX ON $s.names (name COLLATE "C")`),
			run("a", "INSERT INTO $s.names VALUES (1, 'b'), (2, 'C'), (3, 'ä'), (4, 'a')"),
			gives("a", `SELECT string_agg(name, '' ORDER BY name COLLATE "C") FROM $s.names`, "Cabä"),
		},
	},
	{
		name:    "schema changes in transactions",
		tried:   "A table of a transaction that is rolled back does not exist, and a column's storage can be set",
		promise: "A migration that fails leaves half of its changes behind, and the next start fails too",
		steps: []step{
			run("a", "BEGIN"), table("undone", "id integer PRIMARY KEY, body bytea"),
			run("a", "ALTER TABLE $s.undone ALTER COLUMN body SET STORAGE EXTERNAL"),
			run("a", "ROLLBACK"),
			refuses("a", "SELECT * FROM $s.undone", undefinedTable),
		},
	},
	{
		name:    "indexes in use",
		tried:   "CREATE INDEX CONCURRENTLY and DROP INDEX CONCURRENTLY",
		promise: "An upgrade locks tables while it builds indexes, and requests wait or fail meanwhile",
		steps: []step{
			table("used", "id integer PRIMARY KEY, n integer"),
			run("a", "CREATE INDEX CONCURRENTLY used_n ON $s.used (n) INCLUDE (id) WHERE n > 0"),
			run("a", "DROP INDEX CONCURRENTLY $s.used_n"),
		},
	},
	{
		name:    "functions of rows",
		tried:   "SQL and PL/pgSQL functions that take a row of a table or a composite type",
		promise: "No profile, post or file can be read: stoa_public and its like decide by the row who sees it",
		steps: []step{
			table("agents", "id integer PRIMARY KEY, open boolean"),
			run("a", "CREATE TYPE $s.envelope AS (nonce text, size integer)"),
			run("a", "CREATE FUNCTION $s.visible(b $s.agents) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT b.open $$"),
			run("a", `CREATE FUNCTION $s.send(e $s.envelope, OUT verdict text, OUT id integer) LANGUAGE plpgsql AS $$
				DECLARE b $s.agents; BEGIN SELECT * INTO b FROM $s.agents x WHERE x.id = e.size; id := b.id; verdict := e.nonce; END $$`),
			run("a", "INSERT INTO $s.agents VALUES (1, true), (2, false)"),
			gives("a", "SELECT count(*) FROM $s.agents b WHERE $s.visible(b)", "1"),
			run("a", `CREATE FUNCTION $s.active(b $s.agents) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
				BEGIN RETURN b.open; END $$`),
			gives("a", "SELECT count(*) FROM $s.agents b WHERE $s.active(b)", "1"),
			gives("a", "SELECT verdict || id FROM $s.send(ROW('n', 2)::$s.envelope)", "n2"),
		},
	},
	{
		name:    "settings of functions",
		tried:   "A function with SET plan_cache_mode = force_generic_plan locks rows and writes",
		promise: "No credits move: stoa_post, which writes every transaction of the ledger, fails",
		steps: []step{
			table("balances", "id integer PRIMARY KEY, n integer NOT NULL"),
			run("a", "INSERT INTO $s.balances VALUES (1, 5), (2, 5)"),
			run("a", `CREATE FUNCTION $s.move(owners integer[]) RETURNS void LANGUAGE plpgsql
				SET plan_cache_mode = force_generic_plan AS $$
				DECLARE own $s.balances; BEGIN
				FOR own IN SELECT * FROM $s.balances b WHERE b.id = ANY (owners) ORDER BY b.id FOR UPDATE LOOP
				UPDATE $s.balances b SET n = own.n + 1 WHERE b.id = own.id; END LOOP; END $$`),
			run("a", "SELECT $s.move('{1,2}')"),
			gives("a", "SELECT sum(n) FROM $s.balances", "12"),
		},
	},
	{
		name:    "writing statements",
		tried:   "One statement writes several tables (WITH … INSERT … RETURNING) and joins what it wrote",
		promise: "An action on an order is no longer all or nothing: order, history, answer and events are one statement",
		steps: []step{
			table("orders", "id integer PRIMARY KEY, version integer"), table("history", "id integer PRIMARY KEY, version integer"),
			run("a", "INSERT INTO $s.orders VALUES (1, 1)"),
			gives("a", `WITH stepped AS (UPDATE $s.orders SET version = 2 WHERE id = 1 AND version = 1 RETURNING id, version),
				noted AS (INSERT INTO $s.history SELECT id, version FROM stepped RETURNING version)
				SELECT version FROM noted`, "2"),
		},
	},
	{
		name:    "trigrams and GIN",
		tried:   "The module pg_trgm is installed, or may be by the owner of the database, and a GIN index of jsonb",
		promise: "Searches (q, specialty) cannot run, and River's tables of jobs cannot be made",
		steps: []step{
			gives("a", `SELECT EXISTS (SELECT FROM pg_available_extension_versions WHERE name = 'pg_trgm' AND (installed OR trusted))`, "true"),
			table("texts", "id integer PRIMARY KEY, args jsonb"),
			run("a", "CREATE INDEX ON $s.texts USING gin (args)"),
			run("a", "INSERT INTO $s.texts VALUES (1, '{\"a\":1}'), (2, '{}')"),
			gives("a", "SELECT id FROM $s.texts WHERE args @> '{\"a\":1}'", "1"),
		},
	},
	{
		name:    "unlogged tables",
		tried:   "CREATE UNLOGGED TABLE, which the catalog shows as such",
		promise: "Every request that is counted against a limit, and every place on the event channel, is written to the log",
		steps: []step{
			run("a", "CREATE UNLOGGED TABLE $s.counts (id integer PRIMARY KEY) WITH (fillfactor = 50)"),
			gives("a", "SELECT relpersistence FROM pg_class WHERE oid = '$s.counts'::regclass", "u"),
		},
	},
	{
		name:    "identity columns and defaults",
		tried:   "GENERATED BY DEFAULT AS IDENTITY, and a default that draws from a sequence",
		promise: "Events and jobs have no numbers: neither can be written",
		steps: []step{
			run("a", "CREATE SEQUENCE $s.numbers"),
			table("numbered", "id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, n bigint NOT NULL DEFAULT nextval('$s.numbers')"),
			gives("a", "INSERT INTO $s.numbered (id) VALUES (DEFAULT) RETURNING id + n", "2"),
		},
	},
}, append(ruleChecks, sharedChecks...)...)
