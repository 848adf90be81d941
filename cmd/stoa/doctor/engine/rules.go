package engine

// ruleChecks are the features by which the database itself holds a rule, whatever a program does.
var ruleChecks = []check{
	{
		name:    "unique indexes",
		tried:   "A second unique index beside the key; INSERT … ON CONFLICT DO NOTHING waits for another session's insert",
		promise: "A handle, a nonce or an operation id is used twice if two requests come at once",
		steps: []step{
			table("handles", "id integer PRIMARY KEY, handle text NOT NULL"),
			run("a", "CREATE UNIQUE INDEX ON $s.handles (handle)"),
			run("a", "BEGIN"), run("a", "INSERT INTO $s.handles VALUES (1, 'ben')"),
			starts("b", `WITH added AS (INSERT INTO $s.handles VALUES (2, 'ben') ON CONFLICT DO NOTHING RETURNING 1)
				SELECT count(*) FROM added`),
			run("a", "COMMIT"), ends("b", "0"),
			refuses("b", "INSERT INTO $s.handles VALUES (3, 'ben')", uniqueViolation),
		},
	},
	{
		name:    "partial unique indexes",
		tried:   "A unique index with a WHERE refuses a second row inside its condition and takes one outside",
		promise: "An agent gets its starting grant twice, or a task has two selected responses",
		steps: []step{
			table("grants", "id integer PRIMARY KEY, agent integer, kind text"),
			run("a", "CREATE UNIQUE INDEX ON $s.grants (agent) WHERE kind = 'grant'"),
			run("a", "INSERT INTO $s.grants VALUES (1, 1, 'grant'), (2, 1, 'order'), (3, 1, 'order')"),
			refuses("a", "INSERT INTO $s.grants VALUES (4, 1, 'grant')", uniqueViolation),
		},
	},
	{
		name:    "foreign keys and checks",
		tried:   "A foreign key refuses a row that names a missing one, a CHECK a value that it forbids",
		promise: "Records name agents and orders that do not exist, and a balance falls below zero",
		steps: []step{
			table("owners", "id integer PRIMARY KEY"),
			table("accounts", "id integer PRIMARY KEY, owner integer REFERENCES $s.owners, balance integer CHECK (balance >= 0)"),
			run("a", "INSERT INTO $s.owners VALUES (1)"), run("a", "INSERT INTO $s.accounts VALUES (1, 1, 0)"),
			refuses("a", "INSERT INTO $s.accounts VALUES (2, 2, 0)", foreignKey),
			refuses("a", "UPDATE $s.accounts SET balance = -1 WHERE id = 1", checkViolation),
		},
	},
	{
		name:    "row triggers",
		tried:   "A trigger AFTER INSERT FOR EACH ROW with WHEN writes another table in the same transaction",
		promise: "The feed shows no new posts, and posts of closed profiles stay in it",
		steps: []step{
			table("posts", "id integer PRIMARY KEY, author integer, open boolean"), table("feed", "id integer PRIMARY KEY, author integer"),
			run("a", `CREATE FUNCTION $s.publish() RETURNS trigger LANGUAGE plpgsql AS $$
				BEGIN INSERT INTO $s.feed VALUES (NEW.id, NEW.author); RETURN NULL; END $$`),
			run("a", "CREATE TRIGGER publish AFTER INSERT ON $s.posts FOR EACH ROW WHEN (NEW.open) EXECUTE FUNCTION $s.publish()"),
			run("a", "INSERT INTO $s.posts VALUES (1, 7, true), (2, 7, false)"),
			gives("b", "SELECT count(*) FROM $s.feed", "1"),
		},
	},
	{
		name:    "append-only triggers",
		tried:   "A trigger BEFORE UPDATE OR DELETE OR TRUNCATE FOR EACH STATEMENT refuses each of them",
		promise: "Entries of the ledger, of the orders' history and of the audit log can be changed or deleted without an error",
		steps: []step{
			table("ledger", "id integer PRIMARY KEY, delta integer"), run("a", "INSERT INTO $s.ledger VALUES (1, 5)"),
			run("a", `CREATE FUNCTION $s.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
				BEGIN RAISE EXCEPTION 'append-only' USING ERRCODE = 'restrict_violation'; END $$`),
			run("a", `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON $s.ledger
				FOR EACH STATEMENT EXECUTE FUNCTION $s.refuse()`),
			refuses("b", "UPDATE $s.ledger SET delta = 6", restrict),
			refuses("b", "DELETE FROM $s.ledger", restrict),
			refuses("b", "TRUNCATE $s.ledger", restrict),
		},
	},
	{
		name:    "deferred triggers",
		tried:   "A constraint trigger that is DEFERRABLE INITIALLY DEFERRED refuses a row when its transaction commits",
		promise: "Texts are not counted, so an agent may write without bound",
		steps: []step{
			table("texts_kept", "id integer PRIMARY KEY"),
			run("a", `CREATE FUNCTION $s.refuse_late() RETURNS trigger LANGUAGE plpgsql AS $$
				BEGIN RAISE EXCEPTION 'over the limit' USING ERRCODE = 'restrict_violation'; END $$`),
			run("a", `CREATE CONSTRAINT TRIGGER late AFTER INSERT ON $s.texts_kept DEFERRABLE INITIALLY DEFERRED
				FOR EACH ROW EXECUTE FUNCTION $s.refuse_late()`),
			run("a", "BEGIN"), run("a", "INSERT INTO $s.texts_kept VALUES (1)"), refuses("a", "COMMIT", restrict),
		},
	},
	{
		name:    "transition tables",
		tried:   "A trigger AFTER INSERT REFERENCING NEW TABLE sees all rows of the statement and refuses them together",
		promise: "A transaction of the ledger that does not sum to zero is taken: credits appear or vanish",
		steps: []step{
			table("entries", "id integer PRIMARY KEY, transaction integer, delta integer"),
			run("a", `CREATE FUNCTION $s.balance() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF EXISTS (SELECT FROM added GROUP BY transaction HAVING sum(delta) <> 0) THEN
				RAISE EXCEPTION 'unbalanced' USING ERRCODE = 'check_violation'; END IF; RETURN NULL; END $$`),
			run("a", `CREATE TRIGGER balanced AFTER INSERT ON $s.entries REFERENCING NEW TABLE AS added
				FOR EACH STATEMENT EXECUTE FUNCTION $s.balance()`),
			run("a", "INSERT INTO $s.entries VALUES (1, 1, -5), (2, 1, 5)"),
			refuses("a", "INSERT INTO $s.entries VALUES (3, 2, -5), (4, 2, 6)", checkViolation),
			gives("b", "SELECT count(*) FROM $s.entries", "2"),
		},
	},
}
