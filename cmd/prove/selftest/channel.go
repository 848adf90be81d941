package selftest

// channel are bugs of contacts, messages and the event channel (§2.4, §4.4, §6).
var channel = []Row{
	{
		Name: "contact-own-accept", Promise: "Only the agent that was asked accepts a friendship (§3.2).", File: "graph/contacts/state.go",
		Old: "{contact.StatePending, accept, requester}:  {refusal: fault.RecipientRequired},",
		New: "{contact.StatePending, accept, requester}:  {to: contact.StateAccepted, event: events.ContactAccepted},",
	},
	{
		Name: "contact-unblocked", Promise: "A block is permanent (§3.2).", File: "graph/contacts/state.go",
		Old: "{contact.StateBlocked, accept, recipient}:  {refusal: fault.ContactBlocked},",
		New: "{contact.StateBlocked, accept, recipient}:  {to: contact.StateAccepted, event: events.ContactAccepted},",
	},
	{
		Name: "contact-race", Promise: "A block ends a friendship that is accepted at the same moment (§3.2).", File: "graph/contacts/act.go",
		Old: "ownedBy(v.BotID)).ForUpdate().Only(ctx)", New: "ownedBy(v.BotID)).Only(ctx)",
	},
	{
		Name: "message-blocked", Promise: "A blocked agent sends no message (§4.4).", File: "migrate/functions/messages.sql",
		Old: "WHEN c.state <> 'accepted' OR r.state", New: "WHEN c.state = 'pending' OR r.state",
	},
	{
		Name: "message-fingerprint", Promise: "Another message under the same client_message_id is idempotency_conflict (§1.7).",
		File: "migrate/functions/messages.sql",
		Old:  "m.recipient_id = e.recipient_id AND m.nonce = e.nonce AND m.ciphertext = e.ciphertext", New: "m.recipient_id = e.recipient_id",
	},
	{
		Name: "message-id-twice", Promise: "One client_message_id is one message (§1.7).", File: "migrate/sql/0003_messages.sql",
		Old: "CREATE UNIQUE INDEX messageguard_sender_id_client_message_id", New: "CREATE INDEX messageguard_sender_id_client_message_id",
	},
	{
		Name: "message-nonce", Promise: "A nonce is used once (§2.4).", File: "migrate/functions/messages.sql",
		Old: "VALUES (new_id, pair_id, e.sender_id, e.client_message_id, e.nonce)",
		New: "VALUES (new_id, pair_id, e.sender_id, e.client_message_id, substr(sha256(uuid_send(new_id)), 1, octet_length(e.nonce)))",
	},
	{
		Name: "message-page-skips", Promise: "The pages of a conversation have every message (§4.4).", File: "graph/messages/messages.sql",
		Old: "(r.created_at, r.id) < (start.created_at, start.id)", New: "r.created_at < start.created_at - interval '1 s'",
	},
	{
		Name: "message-limit", Promise: "An agent sends 60 new messages a minute at most (§8).", File: "migrate/functions/messages.sql",
		Old: "IF NOT allowed THEN", New: "IF allowed IS NULL THEN",
	},
	{
		Name: "message-limit-per-connection", Promise: "The limit of messages holds across servers (§8).", File: "migrate/functions/messages.sql",
		Old: "FROM stoa_take(limit_name, e.sender_id::text, quota, span)",
		New: "FROM stoa_take(limit_name, e.sender_id::text || pg_backend_pid() % 3, quota, span)",
	},
	{
		Name: "limit-per-connection", Promise: "Limits hold across servers (§8).", File: "graph/platform/limits/take.go",
		Old: "FROM stoa_take($1, $2, $3, make_interval(secs => $4))\",", New: "FROM stoa_take($1, $2::text || pg_backend_pid() % 3, $3, make_interval(secs => $4))\",",
	},
	{
		Name: "socket-limit-race", Promise: "No more sockets are open than allowed, whichever server they reach (§8).",
		File: "migrate/functions/sockets.sql",
		Old:  "PERFORM pg_advisory_xact_lock(7061006);\n  live := ARRAY(SELECT process FROM socket_live_processes);\n  IF NOT holder",
		New:  "live := ARRAY(SELECT process FROM socket_live_processes);\n  IF NOT holder",
	},
	{
		Name: "event-lost", Promise: "Both participants get each event of an order (§6).", File: "graph/orders/orders.sql",
		Old: "(VALUES (d.ids[3], w.customer_id), (d.ids[4], w.contractor_id))", New: "(VALUES (d.ids[3], w.customer_id))",
	},
	{
		Name: "event-to-one-twice", Promise: "An event goes to those concerned, once (§6).", File: "graph/orders/orders.sql",
		Old: "(VALUES (d.ids[3], w.customer_id), (d.ids[4], w.contractor_id))",
		New: "(VALUES (d.ids[3], w.customer_id), (d.ids[4], w.customer_id))",
	},
	{
		Name: "event-order", Promise: "Events come in the order of their causes (§6).", File: "graph/events/events.sql",
		Old: "ORDER BY e.sequence;", New: "ORDER BY e.sequence DESC;",
	},
	{
		Name: "event-late-commit", Promise: "An event that becomes visible after a later one is sent, too (§6).", File: "graph/events/horizon.go",
		Old: "if h.drawn > 0 && now.Oldest > h.mark {", New: "if h.drawn > 0 {", Faults: "commits-late",
	},
	{
		Name: "event-ack-forgotten", Promise: "An event never comes again after its ack was answered (§6).", File: "graph/events/events.sql",
		Old: "WHERE recipient_id = :recipient AND id = ANY (:ids) RETURNING id;", New: "WHERE recipient_id <> :recipient AND id = ANY (:ids) RETURNING id;",
	},
	{
		Name: "wake-up-not-sent", Promise: "An event reaches a socket at another server at once (§6).", File: "rest/socket/hub.go",
		Old: "\th.queue.add(wordWake, recipients...)\n", New: "", Faults: "none",
	},
	{
		Name: "contact-event-to-self", Promise: "The agent that has asked gets the event of an acceptance (§6).", File: "graph/contacts/act.go",
		Old: "events.Event{Recipient: otherID, Kind: kind,", New: "events.Event{Recipient: callerID, Kind: kind,",
	},
	{
		Name: "webhook-acks-failure", Promise: "An event that an endpoint has not taken stays (§4.12).", File: "graph/webhooks/record.go",
		Old: "if got.reason == \"\" && !d.isTest() {", New: "if !d.isTest() {", Faults: "none",
	},
}
