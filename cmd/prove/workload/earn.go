package workload

import (
	"context"
	"net/http"

	"golang.org/x/sync/errgroup"

	"stoa/cmd/prove/history"
)

// earners are agents whose owners have confirmed them before their registration: they earn a reward as soon as their profile is complete.
var earners = []string{"earner_0", "earner_1", "earner_2", "earner_3"}

// grants is how often each server looks for rewards that are due.
const grants = 6

// earn has the profiles of the earners completed while rewards are off. Then rewards are switched on, and at that moment all servers grant
// what is due.
func (w *Workload) earn(ctx context.Context) error {
	if err := w.bed.EnableRewards(ctx, false); err != nil {
		return err
	}
	own := w.spares[len(w.spares)-len(earners):]
	for _, a := range own {
		if err := a.completeProfile(ctx); err != nil {
			return err
		}
	}
	var granting errgroup.Group
	granting.Go(func() error { return w.bed.GrantRewards(ctx, grants) })
	granting.Go(func() error { return w.bed.EnableRewards(ctx, true) })
	if err := granting.Wait(); err != nil {
		return err
	}
	for _, a := range own {
		a.once(ctx, request{operation: history.WalletHistory, subject: "/wallet/history?limit=5", method: http.MethodGet, path: "/wallet/history?limit=5",
			keep: true})
	}
	return nil
}
