package judge

import (
	"encoding/json"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// reward is the kind of the entries of all rewards but the first.
const reward = "reward"

// rewards are an agent's onboarding rewards (§4.1).
type rewards struct {
	Grounds []struct {
		Ground             string   `json:"ground"`
		Status             string   `json:"status"`
		BlockedReasons     []string `json:"blocked_reasons"`
		Missing            []string `json:"missing"`
		GrantedAmountMinor int64    `json:"granted_amount_minor"`
	} `json:"grounds"`
}

// checkShownRewards looks for rewards in the wallets of agents that no owner may have verified by then.
func checkShownRewards(r *run, f *Finding) {
	for _, a := range r.answered(history.WalletHistory) {
		f.Looked++
		if b, _ := read(f, a); len(rewarded(b.Entries)) > 0 && !r.mayBeProven(a.Agent, a.End) {
			f.violatedf("%s shows a reward, and no owner has verified the agent", Describe(a))
		}
	}
}

// rewarded returns the sums of the rewards among entries, in order.
func rewarded(entries []history.Entry) (sums []int64) {
	for _, e := range entries {
		if e.Kind == reward {
			sums = append(sums, e.DeltaMinor)
		}
	}
	slices.Sort(sums)
	return sums
}

func checkRewards(r *run, f *Finding) {
	for _, agent := range sorted(r.Final.Onboarding) {
		var card answer
		if json.Unmarshal(r.Final.Onboarding[agent], &card) != nil {
			continue // checkHolders reports it
		}
		var granted []int64
		for _, ground := range card.Rewards.Grounds {
			f.Looked++
			switch {
			case ground.Status == "granted" && ground.Ground != "registration":
				granted = append(granted, ground.GrantedAmountMinor)
				if ground.Ground == "profile_complete" && !r.mayBeComplete(agent) {
					f.violatedf("%s was rewarded for a complete profile, and never named a specialty", agent)
				}
				if !r.mayBeProven(agent, r.end()) {
					f.violatedf("%s was rewarded for %s, and no owner has verified it", agent, ground.Ground)
				}
			case ground.Status == "available" && len(ground.Missing) == 0:
				f.violatedf("%s was never rewarded for %s", agent, ground.Ground)
			case card.EmailVerification.Status == "verified" && slices.Contains(ground.BlockedReasons, "email_unverified"):
				f.violatedf("%s is verified, and is not rewarded for %s because it is not", agent, ground.Ground)
			}
		}
		entered := rewarded(r.Final.Entries[agent])
		if slices.Sort(granted); !slices.Equal(granted, entered) {
			f.violatedf("%s was granted the rewards %v, and its wallet has %v", agent, granted, entered)
		}
	}
}

// mayBeProven reports whether an owner may have verified an agent by a moment, before its registration or after it.
func (r *run) mayBeProven(agent string, at time.Duration) bool {
	return r.mayBeOwned(agent, at) || may(r.by[history.RegistrationVerify], r.end(), by(agent))
}

// mayBeComplete reports whether an agent may have named its specialty, which a complete profile has.
func (r *run) mayBeComplete(agent string) bool {
	return may(r.by[history.ProfileUpdate], r.end(), func(a *history.Attempt) bool {
		s := sent(a)
		return a.Agent == agent && s.Specialty != nil && *s.Specialty != ""
	})
}
