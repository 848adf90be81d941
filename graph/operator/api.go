// Package operator holds the queries and mutations for the people who run Stoa (§10).
//
// The explorer lists every entity as a Relay connection, generated from ent/schema. Data that operators must never see (tokens,
// codes, ciphertext, nonces, the texts of an order, the names and hashes of files, event payloads) has no field there. Every
// change by operators, and every look at an order's texts and files, is a procedure: a row of the table in procedure.go and a
// GraphQL mutation of that name. A procedure takes a reason and writes one audit entry in the transaction of its effect, so
// neither exists without the other. An entry holds the arguments, but no generated secret.
//
// The overview counts from indexes and within bounds, with the function stoa_activity (migrate/functions/overview.sql). The table
// activity keeps the counts of past minutes, and each server process renews its row in the table processes.
//
// Only an operator may call the methods of API, except the methods for jobs and for the server's process; anyone else gets
// unauthorized. A target that does not exist is not_found.
package operator

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/attachments"
	"stoa/graph/auth"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/keylog"
	"stoa/graph/lifecycle"
	"stoa/graph/owners"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
	"stoa/graph/wallet"
)

//go:embed *.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	// Explorer answers the connections of Query (NewExplorer).
	*ent.Explorer

	DB     *db.DB
	Auth   *auth.API
	Ledger *wallet.API
	// Kept lists the kinds of records and how long each is kept.
	Kept []Retention
	// Files holds the bytes of orders' files.
	Files  *attachments.API
	Agents *bots.API
	// Outbox sends agents the events about answers to their feedback.
	Outbox *events.API
	// Lifecycle removes inactive agents from the platform.
	Lifecycle *lifecycle.API
	// Enqueue adds jobs.
	Enqueue db.Enqueue
	// ProfileChanged is called in a transaction that has changed the missing parts of an agent's profile, or its right to rewards
	// (onboarding.API).
	ProfileChanged func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
	// Owners reports the missing setup of the email gate and of restoring.
	Owners *owners.API
	// RemoveFromBoard takes a task off the board (tasks.API).
	RemoveFromBoard func(ctx context.Context, tx *db.Tx, id uuid.UUID) error
	// Keys rotates the keys of the server.
	Keys *keylog.API
	// BackUp makes a backup now, and LastBackup returns the last one; nil for none.
	BackUp, LastBackup func(context.Context) (*Backup, error)
}

// reads is the reader of the parts of an answer, one after another. After an error it reads nothing more.
type reads struct {
	*API

	err error
}

// reads begins with unauthorized unless the caller is an operator.
func (a *API) reads(ctx context.Context) *reads {
	_, err := viewer.RequireOperator(ctx)
	return &reads{a, err}
}

// part reads a part of an answer.
func part[T any](r *reads, read func() (T, error)) (found T) {
	if r.err == nil {
		found, r.err = read()
	}
	return found
}

// table reads the rows of a statement.
func table[T any](ctx context.Context, r *reads, s *db.Statement, args ...any) []*T {
	return part(r, func() ([]*T, error) { return db.All[T](ctx, r.DB.SQL, s, args...) })
}

// column reads the values of a statement that has one column.
func column[T any](ctx context.Context, r *reads, s *db.Statement, args ...any) []T {
	return part(r, func() ([]T, error) { return db.Column[T](ctx, r.DB.SQL, s, args...) })
}

// read runs a statement for the calling operator and returns its rows. Faults: unauthorized.
func read[T any](ctx context.Context, a *API, s *db.Statement, args ...any) ([]*T, error) {
	r := a.reads(ctx)
	all := table[T](ctx, r, s, args...)
	return all, r.err
}
