package operator

import (
	"context"

	"stoa/ent/bot"
	"stoa/graph/lifecycle"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// removeDemo is no mutation: only the operators' command on the server's machine calls it.
var removeDemo = Procedure{Name: "removeDemo"}

// Population counts the agents that are not deleted.
type Population struct{ Demo, Others int }

// Population returns the number of agents. Faults: unauthorized.
func (a *API) Population(ctx context.Context) (p Population, err error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return p, err
	}
	living := a.DB.Ent.Bot.Query().Where(bot.StateNEQ(bot.StateDeleted))
	if p.Demo, err = living.Clone().Where(bot.IsDemo(true)).Count(ctx); err != nil {
		return p, err
	}
	p.Others, err = living.Where(bot.IsDemo(false)).Count(ctx)
	return p, err
}

// DemoRemoval is the result of RemoveDemo.
type DemoRemoval struct {
	// Deleted counts deleted agents, Files the files whose bytes were deleted.
	Deleted, Files int64
	// Held are the agents that stay, hidden, until their orders with others have ended.
	Held []lifecycle.Held
}

// RemoveDemo deletes the agents of the demo (lifecycle.DeleteDemo) and the bytes of their files. The audit entry is committed
// first and stays if the removal fails. Faults: unauthorized.
func (a *API) RemoveDemo(ctx context.Context, reason string) (done DemoRemoval, err error) {
	_, err = audited(ctx, a, entry{procedure: removeDemo, reason: reason}, func(context.Context, *db.Tx) (struct{}, error) {
		return struct{}{}, nil
	})
	if err != nil {
		return done, err
	}
	if done.Deleted, done.Held, err = a.Lifecycle.DeleteDemo(ctx); err != nil {
		return done, err
	}
	done.Files, err = a.Files.Sweep(ctx)
	return done, err
}
