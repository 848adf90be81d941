package wallet_test

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

// book is the plain model: each agent's balances, and the number of entries that it can see.
type book struct {
	balance map[uuid.UUID]map[wallet.AccountKind]int64
	entries map[uuid.UUID]int64
}

// apply returns the faults that a transaction may get, none if it must be posted, and then applies it.
func (b *book) apply(t wallet.Transaction) []fault.Code {
	sum := int64(0)
	after := make(map[uuid.UUID]map[wallet.AccountKind]int64)
	for _, p := range t.Postings {
		sum += p.DeltaMinor
		if p.BotID == uuid.Nil {
			continue
		}
		if after[p.BotID] == nil {
			after[p.BotID] = map[wallet.AccountKind]int64{
				wallet.Available: b.balance[p.BotID][wallet.Available], wallet.Reserved: b.balance[p.BotID][wallet.Reserved]}
		}
		after[p.BotID][p.Account] += p.DeltaMinor
	}
	var refusals []fault.Code
	for _, sides := range after {
		switch {
		case sides[wallet.Available] < 0:
			refusals = append(refusals, fault.InsufficientFunds)
		case sides[wallet.Reserved] < 0:
			refusals = append(refusals, fault.LedgerConflict)
		}
	}
	if len(refusals) == 0 && sum != 0 { // balances are checked first
		refusals = append(refusals, fault.LedgerConflict)
	}
	if len(refusals) > 0 {
		return refusals
	}
	maps.Copy(b.balance, after)
	for _, p := range t.Postings {
		if p.BotID != uuid.Nil {
			b.entries[p.BotID]++
		}
	}
	return nil
}

// transaction draws up to five postings over three agents and the platform; most sum to zero.
func transaction(t *rapid.T, agents []*graphtest.Agent) wallet.Transaction {
	made := wallet.Transaction{Kind: rapid.SampledFrom([]wallet.Kind{wallet.TopUp, wallet.Reserve, wallet.Payment, wallet.Refund}).Draw(t, "kind")}
	amount := rapid.OneOf(rapid.Int64Range(1, 1000), rapid.Int64Range(1, 600_000))
	side := rapid.SampledFrom([]wallet.AccountKind{wallet.Available, wallet.Reserved})
	rest := int64(0)
	for range rapid.IntRange(1, 4).Draw(t, "postings") {
		p := wallet.Posting{BotID: rapid.SampledFrom(agents).Draw(t, "agent").ID, Account: side.Draw(t, "side"), DeltaMinor: amount.Draw(t, "amount")}
		if rapid.Bool().Draw(t, "out") {
			p.DeltaMinor = -p.DeltaMinor
		}
		rest -= p.DeltaMinor
		made.Postings = append(made.Postings, p)
	}
	if rest != 0 && rapid.IntRange(0, 9).Draw(t, "balanced") > 0 {
		made.Postings = append(made.Postings, wallet.Posting{
			Account: rapid.SampledFrom([]wallet.AccountKind{wallet.Issuance, wallet.Fees}).Draw(t, "platform"), DeltaMinor: rest})
	}
	return made
}

// For any postings, a transaction is accepted exactly if the model accepts it, balances equal the model's and are never negative,
// entries are numbered from 1 without a gap, and the ledger reconciles.
func TestLedgerFollowsModel(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		agents := []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent()}
		model := &book{balance: make(map[uuid.UUID]map[wallet.AccountKind]int64), entries: make(map[uuid.UUID]int64)}
		for _, a := range agents {
			model.balance[a.ID] = map[wallet.AccountKind]int64{wallet.Available: wallet.GrantMinor}
			model.entries[a.ID] = 1
		}
		for range rapid.IntRange(1, 12).Draw(rt, "transactions") {
			next := transaction(rt, agents)
			want := model.apply(next)
			err := post(w, next)
			if want == nil {
				require.NoError(rt, err)
				continue
			}
			require.Error(rt, err)
			require.Contains(rt, want, fault.From(err).Code, "%v", err)
		}
		for _, a := range agents {
			require.Equal(rt, [2]int64{model.balance[a.ID][wallet.Available], model.balance[a.ID][wallet.Reserved]}, balances(t, w, a))
			all := history(t, w, a)
			require.Len(rt, all, int(model.entries[a.ID]))
			sums := map[string]int64{}
			for i, e := range all {
				require.EqualValues(rt, i+1, e.ID)
				sums[e.AccountKind] += e.DeltaMinor
			}
			require.Equal(rt, model.balance[a.ID][wallet.Available], sums["available"])
			require.Equal(rt, model.balance[a.ID][wallet.Reserved], sums["reserved"])
		}
	})
	found := graphtest.Got(w.Wallet.Reconcile(context.Background()))(t)
	for _, d := range found { // there are no orders beside these reserves
		require.Equal(t, wallet.OrderReserve, d.Check)
	}
}

// earner is an agent that has met every condition, in a world that grants rewards.
func earner(t *testing.T) (*graphtest.World, *graphtest.Agent) {
	t.Helper()
	w := graphtest.New(t)
	agent := w.Agent()
	w.Exec("UPDATE settings SET rewards_enabled = true")
	avatar, character := w.File(agent, attachments.Avatar), w.File(agent, attachments.Character)
	w.Exec(`UPDATE bots SET email_verified_at = stoa_now(), specialty = 'sonnets', bio = 'I write.', avatar_id = $2, character_id = $3 WHERE id = $1`,
		agent.ID, avatar, character)
	post := w.Posted(agent, "a sonnet", "public")
	w.Exec("UPDATE posts SET kind = 'portfolio' WHERE id = $1", post.ID)
	return w, agent
}

func grantDue(t *testing.T, w *graphtest.World) int64 {
	t.Helper()
	return graphtest.Got(w.Wallet.GrantRewards(context.Background()))(t)
}

func available(w *graphtest.World, agent *graphtest.Agent) int64 {
	return w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID)
}

func TestEachRewardIsGrantedOnce(t *testing.T) {
	t.Parallel()
	w, agent := earner(t)
	require.Equal(t, int64(3), grantDue(t, w))
	require.Equal(t, int64(10_000_00), available(w, agent), "with the starting grant, the most there is")
	require.Zero(t, grantDue(t, w))

	// Losing a rewarded condition and meeting it again earns nothing.
	w.Exec("UPDATE bots SET avatar_id = NULL, specialty = '' WHERE id = $1", agent.ID)
	require.Zero(t, grantDue(t, w))
	w.Exec("UPDATE bots SET avatar_id = character_id, specialty = 'odes' WHERE id = $1", agent.ID)
	require.Zero(t, grantDue(t, w))

	require.Empty(t, graphtest.Got(w.Wallet.Reconcile(context.Background()))(t))
	require.Equal(t, int64(3), w.Count("SELECT count(*) FROM ledger_entries WHERE bot_id = $1 AND kind = 'reward'", agent.ID))
}

func TestRewardsAreGrantedOnceByManyProcesses(t *testing.T) {
	t.Parallel()
	w, agent := earner(t)
	var total atomic.Int64
	codes := graphtest.AtOnce(20, func(i int) (err error) {
		var granted int64
		if i%2 == 0 {
			granted, err = w.Wallet.GrantRewards(context.Background())
		} else {
			granted, err = w.Wallet.GrantReward(context.Background(), agent.ID)
		}
		total.Add(granted)
		return err
	})
	require.Equal(t, map[fault.Code]int{"": 20}, codes.Count())
	require.Equal(t, int64(3), total.Load())
	require.Equal(t, int64(10_000_00), available(w, agent))
	require.Equal(t, wallet.MaxRewardedMinor(), available(w, agent))
}

// Every agent that qualifies is found, with any number of agents between them.
func TestTheWalkReachesEveryAgent(t *testing.T) {
	t.Parallel()
	w, first := earner(t)
	w.Exec(`INSERT INTO bots (id, created_at, updated_at, handle, display_name, encryption_public_key, last_active_at)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), 'idle_' || n, 'Idle', decode(repeat('09', 32), 'hex'), stoa_now()
		FROM generate_series(1, 1100) n`)
	last := w.Agent()
	w.Exec("UPDATE bots SET email_verified_at = stoa_now(), avatar_id = $2 WHERE id = $1", last.ID, w.File(last, attachments.Avatar))
	require.Equal(t, int64(4), grantDue(t, w))
	require.Equal(t, int64(10_000_00), available(w, first))
	require.Equal(t, int64(6_000_00), available(w, last))
}

// For any changes of conditions and any times of grants, each ground is credited once, never while something blocks it, and the
// credits equal the rewards.
func TestConditionsInAnyOrder(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	rapid.Check(t, func(r *rapid.T) {
		agent := w.Agent()
		avatar, character := w.File(agent, attachments.Avatar), w.File(agent, attachments.Character)
		post := w.Posted(agent, "a sonnet", "public")
		w.Exec("UPDATE posts SET kind = 'portfolio', visibility = 'private' WHERE id = $1", post.ID)
		have := map[string]bool{}
		change := map[string]func(on bool){
			"rewards": func(on bool) { w.Exec("UPDATE settings SET rewards_enabled = $1", on) },
			"email": func(on bool) {
				w.Exec("UPDATE bots SET email_verified_at = CASE WHEN $2 THEN stoa_now() END WHERE id = $1", agent.ID, on)
			},
			"active": func(on bool) {
				w.Exec("UPDATE bots SET state = CASE WHEN $2 THEN 'active' ELSE 'trash' END WHERE id = $1", agent.ID, on)
			},
			"avatar": func(on bool) {
				w.Exec("UPDATE bots SET avatar_id = CASE WHEN $3 THEN $2::uuid END WHERE id = $1", agent.ID, avatar, on)
			},
			"character": func(on bool) {
				w.Exec("UPDATE bots SET character_id = CASE WHEN $3 THEN $2::uuid END WHERE id = $1", agent.ID, character, on)
			},
			"specialty": func(on bool) {
				w.Exec("UPDATE bots SET specialty = CASE WHEN $2 THEN 'odes' ELSE '' END WHERE id = $1", agent.ID, on)
			},
			"bio": func(on bool) {
				w.Exec("UPDATE bots SET bio = CASE WHEN $2 THEN 'I write.' ELSE '' END WHERE id = $1", agent.ID, on)
			},
			"open": func(on bool) { w.Exec("UPDATE bots SET profile_public = $2 WHERE id = $1", agent.ID, on) },
			"work": func(on bool) {
				w.Exec("UPDATE posts SET visibility = CASE WHEN $2 THEN 'public' ELSE 'private' END WHERE id = $1", post.ID, on)
			},
		}
		names := slices.Sorted(maps.Keys(change))
		for _, name := range names {
			have[name] = rapid.Bool().Draw(r, name)
			change[name](have[name])
		}
		granted := map[string]bool{}
		for range rapid.IntRange(1, 6).Draw(r, "steps") {
			name := rapid.SampledFrom(names).Draw(r, "what")
			have[name] = !have[name]
			change[name](have[name])
			graphtest.OK(r)(w.Wallet.GrantReward(context.Background(), agent.ID))
			if have["rewards"] && have["email"] && have["active"] {
				granted["avatar"] = granted["avatar"] || have["avatar"]
				granted["character"] = granted["character"] || have["character"]
				granted["profile_complete"] = granted["profile_complete"] || have["specialty"] && have["bio"] && have["open"] && have["work"]
			}
			want := int64(5_000_00)
			for ground, minor := range wallet.RewardMinor {
				if granted[string(ground)] {
					want += minor
				}
			}
			require.Equal(r, want, available(w, agent))
			require.Equal(r, want, w.Count("SELECT sum(delta_minor) FROM ledger_entries WHERE bot_id = $1 AND kind IN ('grant', 'reward')", agent.ID))
			require.LessOrEqual(r, want, int64(10_000_00))
		}
	})
	reconciled(t, w)
}

func TestRewardsNeedTheirConditions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		without string
		granted int64
	}{
		"rewards enabled":   {"UPDATE settings SET rewards_enabled = false", 0},
		"a verified email":  {"UPDATE bots SET email_verified_at = NULL", 0},
		"no demo":           {"UPDATE bots SET is_demo = true", 0},
		"an active agent":   {"UPDATE bots SET state = 'trash'", 0},
		"no suspension":     {"UPDATE bots SET suspended_at = stoa_now()", 0},
		"an avatar":         {"UPDATE bots SET avatar_id = NULL", 2},
		"a character":       {"UPDATE bots SET character_id = NULL", 2},
		"a specialty":       {"UPDATE bots SET specialty = ''", 2},
		"a bio":             {"UPDATE bots SET bio = ''", 2},
		"a public profile":  {"UPDATE bots SET profile_public = false", 2},
		"a portfolio":       {"UPDATE posts SET kind = 'update'", 2},
		"a public work":     {"UPDATE posts SET visibility = 'private'", 2},
		"a work that stays": {"UPDATE posts SET deleted_at = stoa_now()", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := earner(t)
			w.Exec(c.without)
			require.Equal(t, c.granted, grantDue(t, w))
		})
	}
}
