package engine

// sharedChecks are the features by which sessions share one database: locks, notices, order, and what one sees of another.
var sharedChecks = []check{
	{
		name:    "row locks",
		tried:   "FOR UPDATE, FOR NO KEY UPDATE and FOR SHARE of one session keep another out until it ends, and only from that row",
		promise: "Two actions on one order, or two payments of one wallet, are decided on the same state: credits are spent twice",
		steps: []step{
			table("wallets", "id integer PRIMARY KEY, n integer"), run("a", "INSERT INTO $s.wallets VALUES (1, 1), (2, 1)"),
			run("a", "BEGIN"), run("a", "SELECT * FROM $s.wallets WHERE id = 1 FOR UPDATE"),
			refuses("b", "SELECT * FROM $s.wallets WHERE id = 1 FOR UPDATE NOWAIT", lockNotAvailable),
			refuses("b", "SELECT * FROM $s.wallets WHERE id = 1 FOR SHARE NOWAIT", lockNotAvailable),
			gives("b", "SELECT id FROM $s.wallets WHERE id = 2 FOR UPDATE NOWAIT", "2"),
			run("a", "COMMIT"), run("a", "BEGIN"), run("a", "SELECT * FROM $s.wallets WHERE id = 1 FOR NO KEY UPDATE"),
			refuses("b", "SELECT * FROM $s.wallets WHERE id = 1 FOR NO KEY UPDATE NOWAIT", lockNotAvailable),
			gives("b", "SELECT id FROM $s.wallets WHERE id = 1 FOR KEY SHARE NOWAIT", "1"),
			run("a", "COMMIT"), gives("b", "SELECT id FROM $s.wallets WHERE id = 1 FOR UPDATE NOWAIT", "1"),
			run("a", "BEGIN"), gives("a", "SELECT count(*) FROM (SELECT id FROM $s.wallets ORDER BY id FOR UPDATE) AS locked", "2"),
			run("a", "COMMIT"),
		},
	},
	{
		name:    "SKIP LOCKED",
		tried:   "FOR UPDATE SKIP LOCKED takes the next row instead of waiting for a locked one",
		promise: "Processes that take jobs, webhook deliveries and mails wait for each other or take the same one",
		steps: []step{
			table("jobs", "id integer PRIMARY KEY"), run("a", "INSERT INTO $s.jobs VALUES (1), (2)"),
			run("a", "BEGIN"), gives("a", "SELECT id FROM $s.jobs ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", "1"),
			run("b", "BEGIN"), run("b", "SET LOCAL statement_timeout = 3000"),
			gives("b", "SELECT id FROM $s.jobs ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", "2"),
			run("b", "COMMIT"), run("a", "COMMIT"),
		},
	},
	{
		name:    "READ COMMITTED",
		tried:   "It is the default, and an UPDATE that waited judges its condition by what was committed meanwhile",
		promise: "A change that was decided on an old version of an order overwrites a newer one",
		steps: []step{
			gives("a", "SELECT current_setting('transaction_isolation')", "read committed"),
			table("versions", "id integer PRIMARY KEY, version integer"), run("a", "INSERT INTO $s.versions VALUES (1, 1)"),
			run("a", "BEGIN"), run("a", "UPDATE $s.versions SET version = 2 WHERE id = 1"),
			starts("b", `WITH stepped AS (UPDATE $s.versions SET version = 3 WHERE id = 1 AND version = 1 RETURNING 1)
				SELECT count(*) FROM stepped`),
			run("a", "COMMIT"), ends("b", "0"),
		},
	},
	{
		name:    "advisory locks of transactions",
		tried:   "pg_advisory_xact_lock keeps another session out until the transaction ends",
		promise: "Two identical requests with one operation id at once are both carried out",
		try: func(t *trial) error {
			key := randomKey()
			return t.steps(run("a", "BEGIN"), run("a", "SELECT pg_advisory_xact_lock(7061, "+key+")"),
				gives("b", "SELECT pg_try_advisory_xact_lock(7061, "+key+")", "false"),
				run("a", "COMMIT"), gives("b", "SELECT pg_try_advisory_xact_lock(7061, "+key+")", "true"))
		},
	},
	{
		name:    "timeouts",
		tried:   "statement_timeout ends a statement, lock_timeout the wait for a lock",
		promise: "A statement that hangs keeps its connection, and the pool is used up instead of answering 503",
		steps: []step{
			table("slow", "id integer PRIMARY KEY"), run("a", "INSERT INTO $s.slow VALUES (1)"),
			run("a", "BEGIN"), run("a", "SET LOCAL statement_timeout = 50"), refuses("a", "SELECT pg_sleep(10)", canceled),
			run("a", "ROLLBACK"), run("a", "BEGIN"), run("a", "SELECT * FROM $s.slow WHERE id = 1 FOR UPDATE"),
			run("b", "BEGIN"), run("b", "SET LOCAL lock_timeout = 50"), run("b", "SET LOCAL statement_timeout = 1000"),
			refuses("b", "SELECT * FROM $s.slow WHERE id = 1 FOR UPDATE", lockNotAvailable), run("b", "ROLLBACK"), run("a", "ROLLBACK"),
		},
	},
	{
		name:    "order of sequences",
		tried:   "Sessions that draw in turns get rising numbers, and the sequence's last_value bounds them",
		promise: "An agent receives its events in another order than they happened in, or not at all",
		steps:   []step{run("a", "CREATE SEQUENCE $s.drawn")},
		try:     drawInTurns,
	},
	{
		name:    "commit visibility",
		tried:   "pg_snapshot_xmin passes a transaction only after it ended, and then every session sees its rows",
		promise: "A connected agent misses an event until it connects again: the event horizon passes it",
		steps:   []step{table("events", "id integer PRIMARY KEY")},
		try:     watchCommits,
	},
	{
		name:    "whole transactions",
		tried:   "A statement that sums two rows sees all or nothing of each transfer between them",
		promise: "Balances and checks of the ledger show half of a payment",
		steps:   []step{table("halves", "id integer PRIMARY KEY, n integer"), run("a", "INSERT INTO $s.halves VALUES (1, 0), (2, 0)")},
		try:     sumTransfers,
	},
	{
		name:    "sessions",
		tried:   "A setting and a prepared statement stay in their session and show in no other",
		promise: "Stoa does not start with this address alone: name the database behind the pooler in --database-direct-url",
		session: true,
		try:     keepSessions,
	},
	{
		name:    "LISTEN and NOTIFY",
		tried:   "A session that listens receives what another notifies",
		promise: "Agents whose connection is in another process get their events only when they connect again, and jobs begin a second late",
		session: true,
		try:     hearNotices,
	},
	{
		name:    "advisory locks of sessions",
		tried:   "pg_advisory_lock keeps another session out, shows in pg_locks, and ends with its session",
		promise: "Processes take each other for dead or alive: places on the event channel are counted wrongly, and two migrate at once",
		session: true,
		try:     holdLock,
	},
}
