package operatorcli

import (
	"context"
	"strconv"

	"stoa/cmd/stoa/operatorcli/client"
)

type retentionCommand struct{}

var retentionColumns = []column[client.RetentionRow]{
	{"name", func(r client.RetentionRow) string { return r.Name }},
	{"days", func(r client.RetentionRow) string {
		if r.Days == nil {
			return "for ever"
		}
		return strconv.FormatFloat(*r.Days, 'g', 3, 64)
	}},
	{"job", func(r client.RetentionRow) string { return r.Job }},
	{"what", func(r client.RetentionRow) string { return r.What }},
}

// Run implements kong's command.
func (retentionCommand) Run(d *deps) error {
	got, err := client.ListRetention(context.Background(), d.client)
	if err != nil {
		return err
	}
	return table(d, got.Retention, retentionColumns)
}
