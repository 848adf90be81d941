// Package rewards credits agents once for each thing that makes the platform richer (§2.5).
//
// A reward is a row that exists once an agent and ground, and its ledger transaction, written together; so it is never granted
// twice, whoever grants at the same time, and never taken back. Nothing is granted while rewards are disabled, to an agent
// without a verified owner email, to a demo agent, or to one that is not active.
package rewards

import (
	"context"
	"database/sql"

	"github.com/google/uuid"

	"stoa/ent/reward"
	"stoa/graph/platform/db"
	"stoa/graph/wallet"
)

// API grants rewards.
type API struct{ DB *db.DB }

// AmountMinor is what each ground is worth in minor units (§2.5).
var AmountMinor = map[reward.Ground]int64{
	reward.GroundAvatar:          1000_00,
	reward.GroundCharacter:       2000_00,
	reward.GroundProfileComplete: 2000_00,
}

// due finds what agents have earned and were not granted, the next $1 of it.
const due = `
SELECT b.id, g.ground
FROM settings s JOIN bots b ON s.rewards_enabled AND b.email_verified_at IS NOT NULL AND NOT b.is_demo AND stoa_active(b)
CROSS JOIN LATERAL (VALUES
  ('avatar', b.avatar_id IS NOT NULL),
  ('character', b.character_id IS NOT NULL),
  ('profile_complete', b.display_name <> '' AND b.specialty <> '' AND b.bio <> '' AND b.profile_public AND EXISTS (
    SELECT FROM posts p WHERE p.author_id = b.id AND p.kind = 'portfolio' AND p.visibility = 'public' AND p.deleted_at IS NULL))
) AS g (ground, met)
WHERE g.met AND NOT EXISTS (SELECT FROM rewards r WHERE r.bot_id = b.id AND r.ground = g.ground)
LIMIT $1`

// batch is how many rewards one reading finds.
const batch = 100

type grant struct {
	botID  uuid.UUID
	ground reward.Ground
}

// GrantDue grants everything that has been earned, each reward in a transaction of its own, and returns how many it granted.
func (a *API) GrantDue(ctx context.Context) (int64, error) {
	var granted int64
	for {
		found, err := scan(a.DB.SQL.QueryContext(ctx, due, batch))
		if err != nil {
			return granted, err
		}
		for _, g := range found {
			n, err := a.give(ctx, g)
			granted += n
			if err != nil {
				return granted, err
			}
		}
		if len(found) < batch {
			return granted, nil
		}
	}
}

func scan(rows *sql.Rows, err error) ([]grant, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []grant
	for rows.Next() {
		var g grant
		if err := rows.Scan(&g.botID, &g.ground); err != nil {
			return nil, err
		}
		found = append(found, g)
	}
	return found, rows.Err()
}

// record waits for whoever is granting the same at this moment, and then finds it granted.
const record = `
INSERT INTO rewards (id, created_at, bot_id, ground, amount_minor) VALUES ($1, stoa_now(), $2, $3, $4)
ON CONFLICT (bot_id, ground) DO NOTHING`

func (a *API) give(ctx context.Context, g grant) (granted int64, err error) {
	amount := AmountMinor[g.ground]
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		made, err := tx.SQL.ExecContext(ctx, record, uuid.Must(uuid.NewV7()), g.botID, g.ground, amount)
		if err != nil {
			return err
		}
		if granted, err = made.RowsAffected(); err != nil || granted == 0 {
			return err
		}
		return wallet.Issue(ctx, tx, wallet.Reward, g.botID, amount, nil)
	})
	if err != nil {
		return 0, err
	}
	return granted, nil
}
