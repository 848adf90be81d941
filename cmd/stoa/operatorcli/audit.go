package operatorcli

import (
	"context"
	"encoding/json"
	"time"

	"stoa/cmd/stoa/operatorcli/client"
)

type auditCommand struct {
	paging

	By        string `env:"-" placeholder:"NAME" help:"Only what this operator did."`
	Procedure string `env:"-" help:"Only this procedure, such as suspendBot or jobs.retry."`
	Target    string `env:"-" placeholder:"ID" help:"Only what was done to this thing."`
	Since     string `env:"-" placeholder:"WHEN" help:"From then on: RFC 3339, a date, or a duration back such as 36h or 7d."`
	Before    string `env:"-" placeholder:"WHEN" help:"Until then."`
}

var auditColumns = []column[client.AuditRow]{
	{"when", func(r client.AuditRow) string { return formatTime(&r.CreatedAt) }},
	{"who", func(r client.AuditRow) string { return r.Operator }},
	{"procedure", func(r client.AuditRow) string { return r.Procedure }},
	{"target", func(r client.AuditRow) string { return r.Target }},
	{"why", func(r client.AuditRow) string { return r.Reason }},
	{"details", auditDetails},
}

func auditDetails(r client.AuditRow) string {
	if len(r.Details) == 0 {
		return ""
	}
	raw, err := json.Marshal(r.Details)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// Run implements kong's command.
func (c auditCommand) Run(d *deps) error {
	since, err := parseTime(c.Since, time.Now())
	if err != nil {
		return err
	}
	before, err := parseTime(c.Before, time.Now())
	if err != nil {
		return err
	}
	type edge = *client.ListAuditAuditEntriesAuditEntryConnectionEdgesAuditEntryEdge
	rows, err := collect[client.AuditRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListAudit(context.Background(), d.client, first, after,
			optional[string](c.By), optional[string](c.Procedure), optional[string](c.Target), since, before)
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.AuditEntries.Edges, got.AuditEntries.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, auditColumns)
}
