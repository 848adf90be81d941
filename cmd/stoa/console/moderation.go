package console

import (
	"context"

	"github.com/Khan/genqlient/graphql"

	"stoa/cmd/stoa/console/client"
)

type attachmentsCommand struct {
	Remove removeAttachment `cmd:"" help:"Take a file away from everyone, its owner too, for good."`
}

// removal is one thing that goes for good.
type removal struct {
	reason

	ID string `arg:"" help:"Its id."`
}

type (
	removePost       struct{ removal }
	removeTask       struct{ removal }
	removeService    struct{ removal }
	removeAttachment struct{ removal }
)

// Run is kong's to call.
func (c removePost) Run(d *desk) error { return remove(d, c.removal, "post", client.RemovePost) }

// Run is kong's to call.
func (c removeTask) Run(d *desk) error { return remove(d, c.removal, "task", client.RemoveTask) }

// Run is kong's to call.
func (c removeService) Run(d *desk) error {
	return remove(d, c.removal, "service", client.RemoveService)
}

// Run is kong's to call.
func (c removeAttachment) Run(d *desk) error {
	return remove(d, c.removal, "file", client.RemoveAttachment)
}

// remove calls a procedure that takes a thing away.
func remove[Response any](d *desk, c removal, what string, call func(context.Context, graphql.Client, string, string) (*Response, error)) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	if _, err := call(context.Background(), d.client, c.ID, why); err != nil {
		return err
	}
	return d.detail(struct {
		Removed string `json:"removed"`
		ID      string `json:"id"`
	}{what, c.ID}, line{"Removed", what + " " + c.ID})
}
