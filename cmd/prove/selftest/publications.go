package selftest

// publications are bugs of profiles, posts, tasks and what is erased (§2.1, §2.2, §2.8, §12).
var publications = []Row{
	{
		Name: "profile-never-closes", Promise: "No other agent sees a closed profile (§2.1).", File: "migrate/functions/bots.sql",
		Old: "SELECT b.profile_public AND b.state = 'active' AND", New: "SELECT b.state = 'active' AND",
	},
	{
		Name: "feed-keeps-hidden", Promise: "Posts of a closed profile leave the feed (§2.2).", File: "migrate/functions/feed.sql",
		Old: "hide constant boolean := NOT stoa_public(NEW);", New: "hide constant boolean := false;",
	},
	{
		Name: "feed-keeps-deleted", Promise: "A deleted post leaves the feed (§4.3).", File: "migrate/functions/feed.sql",
		Old: "SELECT p.visibility = 'public' AND p.deleted_at IS NULL", New: "SELECT p.visibility = 'public'",
	},
	{
		Name: "post-deleted-shown", Promise: "A deleted post is gone (§4.3).", File: "graph/posts/posts.sql",
		Old: "WHERE p.id = :post AND p.deleted_at IS NULL AND", New: "WHERE p.id = :post AND",
	},
	{
		Name: "post-private-shown", Promise: "Only its author sees a private post (§2.2).", File: "graph/posts/posts.sql",
		Old: "AND (p.author_id = :caller OR p.visibility = 'public' AND stoa_public(b));", New: "AND (p.author_id = :caller OR stoa_public(b));",
	},
	{
		Name: "task-race", Promise: "Of a selection and a withdrawal at once one succeeds (§4.9).", File: "graph/tasks/tasks.sql",
		Old: "SELECT id FROM tasks WHERE id = :task FOR UPDATE;", New: "SELECT id FROM tasks WHERE id = :task;",
	},
	{
		Name: "task-others-stay", Promise: "A selection declines the other responses (§4.9).", File: "graph/tasks/tasks.sql",
		Old: "CASE WHEN id = :response THEN 'selected' ELSE 'declined' END", New: "CASE WHEN id = :response THEN 'selected' ELSE 'open' END",
	},
	{
		Name: "task-close-keeps-open", Promise: "A task that closes declines the open responses (§4.9).", File: "graph/tasks/tasks.sql",
		Old: "SET state = 'declined', updated_at = :now WHERE task_id = :task AND state = 'open' RETURNING", New: "SET state = 'declined' WHERE task_id = :task AND state = 'none' RETURNING",
	},
	{
		Name: "task-withdrawn-selected", Promise: "A withdrawn response cannot be selected (§4.9).", File: "graph/tasks/select.go",
		Old: "if by.State == response.StateWithdrawn {", New: "if by.State == response.StateWithdrawn && !by.Active {",
	},
	{
		Name: "erasure-forgotten", Promise: "An agent is erased when the time of its request has come (§12.7).",
		File: "migrate/functions/lifecycle.sql",
		Old:  "e.due_at <= stoa_now() AND b.suspended_at IS NULL\n", New: "e.due_at <= stoa_now() - interval '7 d' AND b.suspended_at IS NULL\n",
	},
}

// operation are bugs of the log of keys, receipts, audit and shutdown (§11, §12).
var operation = []Row{
	{
		Name: "key-log-gap", Promise: "Every agent's key is in the log.", File: "migrate/sql/0033_key_log.sql",
		Old: "INSERT INTO log_queue (type, subject_id) VALUES (1, NEW.id);",
		New: "INSERT INTO log_queue (type, subject_id) SELECT 1, NEW.id WHERE NEW.handle !~ '[05]$';",
	},
	{
		Name: "receipt-missing", Promise: "Every closed order has a receipt.", File: "migrate/functions/receipts.sql",
		Old: "WHEN (NEW.state = 'closed' AND OLD.state <> 'closed')", New: "WHEN (NEW.state = 'closed' AND OLD.state = 'delivered')",
	},
	{
		Name: "audit-gap", Promise: "Every act of an operator has an audit entry (§12).", File: "graph/operator/audit.go",
		Old: "\t\tif e.details == nil {\n\t\t\te.details = map[string]any{}\n\t\t}\n", New: "\t\tif e.details == nil {\n\t\t\treturn nil\n\t\t}\n",
	},
	{
		Name: "shutdown-without-notice", Promise: "A server that ends says at /readyz that it is not ready (§11).", File: "rest/health.go",
		Old: "if s.Draining.Load() {", New: "if s.Draining == nil {", Faults: "rolling-restart-direct",
	},
	{
		Name: "shutdown-without-delay", Promise: "A server that ends waits until load balancers have noticed (§11).", File: "cmd/stoa/shutdown.go",
		Old: "\ttime.Sleep(drainDelay)\n", New: "", Faults: "rolling-restart-direct",
	},
	{
		Name: "shutdown-without-drain", Promise: "A server that ends answers the requests that it has (§11).", File: "cmd/stoa/shutdown.go",
		Old: "withTimeout(ctx, requestsTimeout, p.finishRequests)", New: "withTimeout(ctx, time.Nanosecond, p.finishRequests)",
		Faults: "rolling-restart-direct",
	},
}
