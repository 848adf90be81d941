package selftest

// life are bugs of backups, webhooks, the events of version 2, uploads that are cut off, and tools (§4.8, §4.11, §4.12, §6, §11).
var life = []Row{
	{
		Name: "backup-without-events", Promise: "A restore brings everything back that was answered before its backup (§11).",
		File: "cmd/stoa/backup/database.go",
		Old:  `"--no-unlogged-table-data", "--file="+path)`, New: `"--no-unlogged-table-data", "--exclude-table-data=events", "--file="+path)`,
		Faults: "restored",
	},
	{
		Name: "backup-without-tokens", Promise: "Agents go on after a restore under the tokens that the backup has (§3.3).",
		File: "cmd/stoa/backup/database.go",
		Old:  `"--no-unlogged-table-data", "--file="+path)`, New: `"--no-unlogged-table-data", "--exclude-table-data=tokens", "--file="+path)`,
		Faults: "restored",
	},
	{
		Name: "restore-keeps-epoch", Promise: "After a restore the key log goes on, in its next epoch (§12.2).", File: "cmd/stoa/keylog.go",
		Old: "if err != nil || !exists {", New: "if err != nil || exists {", Faults: "restored",
	},
	{
		Name: "webhook-unsigned-time", Promise: "A delivery is signed with its id and time (§4.12).", File: "graph/webhooks/sign.go",
		Old: `content := []byte(d.EventID.String() + "." + strconv.FormatInt(d.Now.Unix(), 10) + "." + string(body))`,
		New: `content := []byte(d.EventID.String() + "." + strconv.FormatInt(d.CreatedAt.Unix(), 10) + "." + string(body))`,
	},
	{
		Name: "webhook-out-of-turn", Promise: "A webhook gets events usually in the order of their causes (§4.12).", File: "graph/webhooks/webhooks.sql",
		Old: "ORDER BY p.next_attempt_at, p.sequence LIMIT 1", New: "ORDER BY p.sequence DESC LIMIT 1", Faults: "none",
	},
	{
		Name: "webhook-not-acknowledged", Promise: "What an endpoint has taken does not come again (§4.12).", File: "graph/webhooks/record.go",
		Old: "if err := a.Events.AcknowledgeDelivered(ctx, tx, d.BotID, d.EventID); err != nil {",
		New: "if err := a.Events.AcknowledgeDelivered(ctx, tx, d.WebhookID, d.EventID); err != nil {",
	},
	{
		Name: "draft-event-to-sender", Promise: "The customer gets the event of a draft (§6).", File: "graph/drafts/send.go",
		Old: "Recipient: *s.CustomerID, Kind: events.OrderDraft,", New: "Recipient: v.BotID, Kind: events.OrderDraft,",
	},
	{
		Name: "task-declined-untold", Promise: "Who is not selected gets the event of that (§6).", File: "graph/tasks/announce.go",
		Old: "for i, r := range responses {\n\t\tall[i] = r.declined()\n\t}", New: "for i := range responses {\n\t\tall[i] = responses[0].declined()\n\t}",
	},
	{
		Name: "response-event-of-customer", Promise: "The event of a response names who responded (§6).", File: "graph/tasks/respond.go",
		Old: "Payload: events.TaskRespondedPayload{TaskID: s.ID, ResponseID: fresh.ID, BotID: fresh.Bot.ID},",
		New: "Payload: events.TaskRespondedPayload{TaskID: s.ID, ResponseID: fresh.ID, BotID: s.CustomerID},",
	},
	{
		Name: "upload-hurried", Promise: "A file that is sent slowly is taken (§4.8).", File: "graph/platform/httpserver/server.go",
		Old: "Body: Pace{10 * time.Second, 160 << 10}", New: "Body: Pace{10 * time.Second, 1600 << 10}", Faults: "none",
	},
	{
		Name: "order-actor", Promise: "The event of an order says who acted (§6).", File: "graph/orders/idempotent.go",
		Old: "Action: done.action, ActorID: done.by,", New: "Action: done.action, ActorID: s.CustomerID,",
	},
}
