package console

import (
	"context"
	"fmt"
	"strings"

	"stoa/cmd/stoa/console/client"
)

type maintenanceCommand struct {
	reason

	Task string `arg:"" help:"One of the server's tasks, such as cleanup or reconcile."`
}

// Run is kong's to call.
func (c maintenanceCommand) Run(d *desk) error {
	task, err := known(c.Task, client.AllMaintenanceTask)
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
	lines := []line{{"Done", strings.ToLower(string(done.Task))}}
	for _, s := range done.Swept {
		lines = append(lines, line{s.Name, fmt.Sprintf("%d deleted", s.Deleted)})
	}
	for _, wrong := range done.Discrepancies {
		lines = append(lines, line{"Wrong", fmt.Sprintf("%s: %d instead of %d  %s %s", wrong.Check, wrong.Found, wrong.Expected, text(wrong.BotId), text(wrong.TransactionId))})
	}
	switch task {
	case client.MaintenanceTaskReconcile:
		lines = append(lines, line{"Wrong", fmt.Sprintf("%d discrepancies", len(done.Discrepancies))})
	case client.MaintenanceTaskLifecycle:
		lines = append(lines, line{"Trashed", fmt.Sprintf("%d agents", done.Trashed)})
	case client.MaintenanceTaskRewards:
		lines = append(lines, line{"Granted", fmt.Sprintf("%d rewards", done.Granted)})
	}
	if done.Backup != nil {
		lines = append(lines, line{"Backup", fmt.Sprintf("%s: %d files, %d bytes", done.Backup.Name, done.Backup.Files, done.Backup.SizeBytes)})
	}
	return d.detail(done, lines...)
}

// known finds a word of an enumeration in any case.
func known[Word ~string](typed string, all []Word) (Word, error) {
	var names []string
	for _, word := range all {
		if strings.EqualFold(typed, string(word)) {
			return word, nil
		}
		names = append(names, strings.ToLower(string(word)))
	}
	return "", &UsageError{fmt.Sprintf("%q is none of %s", typed, strings.Join(names, ", "))}
}
