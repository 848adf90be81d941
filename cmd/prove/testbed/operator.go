package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sync/errgroup"

	"stoa/cmd/stoa/operatorcli/client"
)

// operate runs a procedure as an operator of a server, and records it once it is answered: the procedure and the target, if any.
// arguments are the types of the variables, document is the selection.
func (b *Bed) operate(ctx context.Context, server *Server, procedure, target, arguments, document string, variables map[string]any, into any) error {
	operator, err := client.Connection{Address: server.Operator, Token: operatorToken}.Client()
	if err != nil {
		return err
	}
	variables["reason"] = "the proof"
	err = operator.Ask(ctx, "mutation ("+arguments+", $reason: String!) { "+procedure+"("+document+" }", variables, into)
	if err == nil {
		b.acting.Lock()
		defer b.acting.Unlock()
		b.Acts = append(b.Acts, procedure+" "+target)
	}
	return err
}

// UpdateSettings changes settings of the service, as an operator.
func (b *Bed) UpdateSettings(ctx context.Context, changes map[string]any) error {
	return b.operate(ctx, b.Servers[0], "updateSettings", "", "$input: SettingsInput!", "input: $input, reason: $reason) { updatedAt }",
		map[string]any{"input": changes}, new(any))
}

// setUpOwners does the operators' setup for the verification of owners: their identity, the documents that owners confirm, and
// rewards for verified agents.
func (b *Bed) setUpOwners(ctx context.Context) error {
	err := b.UpdateSettings(ctx, map[string]any{"rewardsEnabled": true, "operatorName": "The proof", "operatorContactEmail": "proof@example.org"})
	for _, key := range []string{"terms", "privacy"} {
		document := map[string]any{"key": key, "title": "The " + key + " of the proof", "version": "1", "text": "Be kind.\n"}
		err = errors.Join(err, b.operate(ctx, b.Servers[0], "publishDocument", "", "$input: DocumentInput!",
			"input: $input, reason: $reason) { id }", map[string]any{"input": document}, new(any)))
	}
	return err
}

// GrantRewards makes an operator of each server grant all due rewards, at the same time and several times.
func (b *Bed) GrantRewards(ctx context.Context, times int) error {
	var granting errgroup.Group
	for _, server := range b.Servers {
		granting.Go(func() (err error) {
			for range times {
				_, failed := b.maintain(ctx, server, "REWARDS")
				err = errors.Join(err, failed)
			}
			return err
		})
	}
	return granting.Wait()
}

// Reconcile makes an operator check the ledger.
func (b *Bed) Reconcile(ctx context.Context) error {
	found, err := b.maintain(ctx, b.Servers[0], "RECONCILE")
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("the reconciliation found discrepancies: %v", found)
	}
	return err
}

// maintain runs a periodic task and returns the discrepancies that it found.
func (b *Bed) maintain(ctx context.Context, server *Server, task string) ([]any, error) {
	var done struct{ RunMaintenance struct{ Discrepancies []any } }
	err := b.operate(ctx, server, "runMaintenance", "", "$task: MaintenanceTask!",
		"task: $task, reason: $reason) { discrepancies { check botId transactionId expected found } }", map[string]any{"task": task}, &done)
	return done.RunMaintenance.Discrepancies, err
}

// ReissueToken ends all tokens of an agent and returns a new one.
func (b *Bed) ReissueToken(ctx context.Context, agent string) (token string, err error) {
	var made struct{ ReissueToken struct{ Token string } }
	err = b.operate(ctx, b.Servers[0], "reissueToken", agent, "$bot: ID!", "botId: $bot, reason: $reason) { token }",
		map[string]any{"bot": agent}, &made)
	return made.ReissueToken.Token, err
}

// Audit returns the procedures and targets of all entries of the audit log, the newest first.
func (b *Bed) Audit(ctx context.Context) (entries []string, err error) {
	operator, err := client.Connection{Address: b.Servers[0].Operator, Token: operatorToken}.Client()
	for after := (*string)(nil); err == nil; {
		var got struct {
			AuditEntries struct {
				Edges []struct {
					Node struct{ Procedure, Target string }
				}
				PageInfo struct {
					HasNextPage bool
					EndCursor   *string
				}
			}
		}
		err = operator.Ask(ctx, `query ($after: Cursor) {
			auditEntries(first: 100, after: $after, orderBy: [{field: CREATED_AT, direction: DESC}]) {
				edges { node { procedure target } } pageInfo { hasNextPage endCursor } } }`, map[string]any{"after": after}, &got)
		for _, edge := range got.AuditEntries.Edges {
			entries = append(entries, edge.Node.Procedure+" "+edge.Node.Target)
		}
		if after = got.AuditEntries.PageInfo.EndCursor; !got.AuditEntries.PageInfo.HasNextPage {
			break
		}
	}
	return entries, err
}

// Backup makes a backup by the program while the servers run.
func (b *Bed) Backup(ctx context.Context) error { return b.command(ctx, "backup") }

// Restore replaces the database by the last backup. No server may run.
func (b *Bed) Restore(ctx context.Context) error {
	const idle = 2 // the default of database/sql
	b.DB.SetMaxIdleConns(0)
	defer b.DB.SetMaxIdleConns(idle)
	return b.command(ctx, "backup", "restore", "--replace")
}

// command runs a command of the program on the servers' database and data folder.
func (b *Bed) command(ctx context.Context, arguments ...string) error {
	command := exec.CommandContext(ctx, b.Program, arguments...)
	command.Env = append(os.Environ(), "STOA_DATABASE_URL=postgres://stoa@"+b.Database.Address+"/stoa?sslmode=disable",
		"STOA_DATA_DIR="+b.Data())
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("stoa %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
