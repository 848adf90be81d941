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

	"stoa/ent/reward"
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
	names := []string{ // the first five block every ground
		"rewards", "email", "active", "real", "free", "avatar", "character", "specialty", "bio", "open", "work", "portfolio", "kept",
	}
	// follow changes conditions of a new agent, which meets all at first: some at once, and then one before each grant.
	follow := func(t require.TestingT, before, steps []string) {
		agent := w.Agent()
		w.Posted(agent, "a sonnet", "public")
		avatar, character := w.File(agent, attachments.Avatar), w.File(agent, attachments.Character)
		sets := map[string][3]string{ // table, met, not met
			"rewards":   {"settings", "rewards_enabled = true", "rewards_enabled = false"},
			"email":     {"bots", "email_verified_at = stoa_now()", "email_verified_at = NULL"},
			"active":    {"bots", "state = 'active'", "state = 'trash'"},
			"real":      {"bots", "is_demo = false", "is_demo = true"},
			"free":      {"bots", "suspended_at = NULL", "suspended_at = stoa_now()"},
			"avatar":    {"bots", "avatar_id = '" + avatar.String() + "'", "avatar_id = NULL"},
			"character": {"bots", "character_id = '" + character.String() + "'", "character_id = NULL"},
			"specialty": {"bots", "specialty = 'odes'", "specialty = ''"},
			"bio":       {"bots", "bio = 'I write.'", "bio = ''"},
			"open":      {"bots", "profile_public = true", "profile_public = false"},
			"work":      {"posts", "visibility = 'public'", "visibility = 'private'"},
			"portfolio": {"posts", "kind = 'portfolio'", "kind = 'update'"},
			"kept":      {"posts", "deleted_at = NULL", "deleted_at = stoa_now()"},
		}
		where := map[string]string{"settings": "", "bots": " WHERE id = '" + agent.ID.String() + "'", "posts": " WHERE author_id = '" + agent.ID.String() + "'"}
		unmet := map[string]bool{}
		set := func(name string, failing bool) {
			unmet[name] = failing
			change := sets[name]
			w.Exec("UPDATE " + change[0] + " SET " + change[map[bool]int{false: 1, true: 2}[failing]] + where[change[0]])
		}
		met := func(names []string) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return unmet[name] })
		}
		for _, name := range names {
			set(name, false)
		}
		for _, name := range before {
			set(name, !unmet[name])
		}
		granted := map[reward.Ground]bool{}
		for _, name := range steps {
			set(name, !unmet[name])
			graphtest.OK(t)(w.Wallet.GrantReward(context.Background(), agent.ID))
			want := int64(5_000_00)
			for ground, needs := range map[reward.Ground][]string{"avatar": names[5:6], "character": names[6:7], "profile_complete": names[7:]} {
				if granted[ground] = granted[ground] || met(names[:5]) && met(needs); granted[ground] {
					want += wallet.RewardMinor[ground]
				}
			}
			require.Equal(t, want, available(w, agent), "%v, %v", before, steps)
			require.Equal(t, want, w.Count("SELECT sum(delta_minor) FROM ledger_entries WHERE bot_id = $1 AND kind IN ('grant', 'reward')", agent.ID))
			require.LessOrEqual(t, want, int64(10_000_00))
		}
	}
	for _, name := range names { // a condition that is not met at first, and then is
		follow(t, nil, []string{name, name})
	}
	rapid.Check(t, func(r *rapid.T) {
		some := rapid.SliceOfN(rapid.SampledFrom(names), 1, 6)
		follow(r, some.Draw(r, "before"), some.Draw(r, "steps"))
	})
	reconciled(t, w)
}
