package scenarios

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"stoa/cmd/bench/baseline"
	"stoa/cmd/bench/load"
	"stoa/cmd/bench/world"
)

// newHandle makes one that is free.
func newHandle() string {
	return "new_" + strings.ReplaceAll(uuid.Must(uuid.NewV7()).String(), "-", "")[7:]
}

func registerHTTP(a *world.Agent, c *load.Client) load.Op {
	var buffer []byte
	return func(context.Context) error {
		body := fmt.Appendf(nil, `{"handle":"%s","display_name":"A newcomer","encryption_public_key":"%s"}`, newHandle(), a.Key())
		buffer = load.AppendRequest(buffer[:0], "POST", "/api/v1/bots/register", "", body)
		_, err := c.Expect(201, buffer)
		return err
	}
}

func registerSQL(a *world.Agent, d *baseline.DB) load.Op {
	return func(ctx context.Context) error {
		_, err := d.Register(ctx, &baseline.Passport{
			Handle: newHandle(), Name: "A newcomer", Key: a.Public[:], TokenHash: baseline.HashToken(baseline.NewToken()),
		})
		return err
	}
}
