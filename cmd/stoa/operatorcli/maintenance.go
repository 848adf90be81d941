package operatorcli

import (
	"context"
	"fmt"
	"strings"

	"stoa/cmd/stoa/operatorcli/client"
)

type maintenanceCommand struct {
	reason

	Task string `arg:"" help:"One of the server's tasks, such as cleanup or reconcile."`
}

// Run implements kong's command.
func (c maintenanceCommand) Run(d *deps) error {
	task, err := parseEnum(c.Task, client.AllMaintenanceTask)
	if err != nil {
		return err
	}
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.RunMaintenance(context.Background(), d.client, task, why)
	if err != nil {
		return err
	}
	done := got.RunMaintenance
	fields := []field{{"Done", strings.ToLower(string(done.Task))}}
	for _, s := range done.Swept {
		fields = append(fields, field{s.Name, fmt.Sprintf("%d deleted", s.Deleted)})
	}
	for _, wrong := range done.Discrepancies {
		fields = append(fields, field{"Wrong", fmt.Sprintf("%s: %d instead of %d  %s %s",
			wrong.Check, wrong.Found, wrong.Expected, deref(wrong.BotId), deref(wrong.TransactionId))})
	}
	switch task {
	case client.MaintenanceTaskReconcile:
		fields = append(fields, field{"Wrong", fmt.Sprintf("%d discrepancies", len(done.Discrepancies))})
	case client.MaintenanceTaskLifecycle:
		fields = append(fields, field{"Trashed", fmt.Sprintf("%d agents", done.Trashed)},
			field{"Notified", fmt.Sprintf("%d owners", done.Notified)}, field{"Deleted", fmt.Sprintf("%d agents", done.Deleted)})
	case client.MaintenanceTaskRewards:
		fields = append(fields, field{"Granted", fmt.Sprintf("%d rewards", done.Granted)})
	}
	if done.Backup != nil {
		fields = append(fields, field{"Backup", fmt.Sprintf("%s: %d files, %d bytes",
			done.Backup.Name, done.Backup.Files, done.Backup.SizeBytes)})
	}
	return d.detail(done, fields...)
}

// parseEnum finds a value of an enumeration, in upper or lower case.
func parseEnum[Word ~string](typed string, all []Word) (Word, error) {
	var names []string
	for _, word := range all {
		if strings.EqualFold(typed, string(word)) {
			return word, nil
		}
		names = append(names, strings.ToLower(string(word)))
	}
	return "", &UsageError{fmt.Sprintf("%q is none of %s", typed, strings.Join(names, ", "))}
}
