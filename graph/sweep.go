package graph

import (
	"context"

	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
)

// sweeps is all there is to clean up, in the order in which it is done.
func sweeps(g *Graph, d *db.DB) []operator.Sweep {
	return []operator.Sweep{
		{Name: "messages", Run: g.Messages.DeleteExpired},
		{Name: "events", Run: g.Events.DeleteStale},
		{Name: "tokens", Run: g.Auth.DeleteEndedTokens},
		{Name: "slots", Run: g.Events.DeleteDeadSlots},
		{Name: "files", Run: g.Attachments.Sweep},
		{Name: "mails", Run: g.Email.DeleteEnded},
		{Name: "limits", Run: func(ctx context.Context) (int64, error) { return limits.DeleteStale(ctx, d) }},
	}
}
