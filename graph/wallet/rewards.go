package wallet

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/ent/reward"
	"stoa/graph/platform/db"
)

//go:embed rewards.sql
var rewardFiles embed.FS

var (
	rewardStatements = db.Load(rewardFiles)
	selectDueRewards = rewardStatements.Named("select_due_rewards")
	insertReward     = rewardStatements.Named("insert_reward")
)

// RewardMinor is what each ground is worth in minor units (§2.5).
var RewardMinor = map[reward.Ground]int64{
	reward.GroundAvatar:          1000_00,
	reward.GroundCharacter:       2000_00,
	reward.GroundProfileComplete: 2000_00,
}

// rewardBatch is how many rewards one statement finds.
const rewardBatch = 100

// dueReward is a row of select_due_rewards.
type dueReward struct {
	BotID  uuid.UUID     `db:"bot_id"`
	Ground reward.Ground `db:"ground"`
}

// GrantRewards credits agents once for each ground that they have met, while the operator has rewards enabled, and returns how
// many rewards it granted (§2.5). A reward and its ledger transaction are written together and never taken back; it may run in
// several processes at once. Only jobs and operators' procedures call it.
func (a *API) GrantRewards(ctx context.Context) (granted int64, err error) {
	for {
		due, err := db.All[dueReward](ctx, a.DB.SQL, selectDueRewards, rewardBatch)
		if err != nil {
			return granted, err
		}
		for _, r := range due {
			n, err := a.grantReward(ctx, r)
			granted += n
			if err != nil {
				return granted, err
			}
		}
		if len(due) < rewardBatch {
			return granted, nil
		}
	}
}

// grantReward returns 1, or 0 where another process granted the reward.
func (a *API) grantReward(ctx context.Context, r *dueReward) (granted int64, err error) {
	amount := RewardMinor[r.Ground]
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		inserted, err := tx.SQL.ExecContext(ctx, insertReward.Text, uuid.Must(uuid.NewV7()), r.BotID, r.Ground, amount)
		if err != nil {
			return err
		}
		if granted, err = inserted.RowsAffected(); err != nil || granted == 0 {
			return err
		}
		return Issue(ctx, tx, Reward, r.BotID, amount, nil)
	})
	if err != nil {
		return 0, err
	}
	return granted, nil
}
