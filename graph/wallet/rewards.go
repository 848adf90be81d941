package wallet

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent/reward"
	"stoa/graph/platform/db"
)

// RewardMinor is the amount of each ground in minor units (§2.5).
var RewardMinor = map[reward.Ground]int64{
	reward.GroundAvatar:          1000_00,
	reward.GroundCharacter:       2000_00,
	reward.GroundProfileComplete: 2000_00,
}

// MaxRewardedMinor is the most that an agent is ever granted, the starting grant included.
func MaxRewardedMinor() int64 {
	most := GrantMinor
	for _, amount := range RewardMinor {
		most += amount
	}
	return most
}

// RewardJob grants one agent its due rewards. The transaction that met the condition enqueues it.
type RewardJob struct {
	BotID uuid.UUID `json:"bot_id"`
}

func (RewardJob) Kind() string { return "reward" }

// RewardsJob grants every agent its due rewards. Enabling rewards enqueues it.
type RewardsJob struct{}

func (RewardsJob) Kind() string { return "rewards" }

// rewardBatch is how many agents one statement examines.
const rewardBatch = 1000

// examined is a row of examine_rewards.
type examined struct {
	ID  uuid.UUID `db:"id"`
	Due bool      `db:"due"`
}

// GrantRewards credits every agent like GrantReward and returns the number of granted rewards. It reads the agents in batches, so
// it may be stopped half-way and run in several processes concurrently. Only jobs and operators' procedures call it.
func (a *API) GrantRewards(ctx context.Context) (granted int64, err error) {
	for last := uuid.Nil; ; {
		batch, err := db.All[examined](ctx, a.DB.SQL, named("examine_rewards"), last, rewardBatch)
		if err != nil {
			return granted, err
		}
		for _, agent := range batch {
			last = agent.ID
			if !agent.Due {
				continue
			}
			n, err := a.GrantReward(ctx, agent.ID)
			granted += n
			if err != nil {
				return granted, err
			}
		}
		if len(batch) < rewardBatch {
			return granted, nil
		}
	}
}

// GrantReward credits an agent for each ground that it has met and was not rewarded for, if the operator has enabled rewards and
// nothing blocks the agent (§2.5). It returns the number of granted rewards. A reward and its ledger transaction are written
// together and are never taken back. Only jobs and operators' procedures call it, also several processes at the same time.
func (a *API) GrantReward(ctx context.Context, botID uuid.UUID) (granted int64, err error) {
	var (
		ids     []uuid.UUID
		grounds []string
		amounts []int64
	)
	for ground, amount := range RewardMinor {
		ids, grounds, amounts = append(ids, uuid.Must(uuid.NewV7())), append(grounds, string(ground)), append(amounts, amount)
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (int64, error) {
		due, err := db.Column[int64](ctx, tx.SQL, named("insert_due_rewards"), botID, db.IDs(ids), pq.Array(grounds), pq.Array(amounts))
		if err != nil {
			return 0, err
		}
		for _, amount := range due {
			if err := Issue(ctx, tx, Reward, botID, amount, nil); err != nil {
				return 0, err
			}
		}
		return int64(len(due)), nil
	})
}
