package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// reward is the kind of the entries of all rewards but the first.
const reward = "reward"

// rewards are those of the onboarding (§4.1).
type rewards struct {
	Grounds []struct {
		Ground             string   `json:"ground"`
		Status             string   `json:"status"`
		BlockedReasons     []string `json:"blocked_reasons"`
		Missing            []string `json:"missing"`
		GrantedAmountMinor int64    `json:"granted_amount_minor"`
	} `json:"grounds"`
}

// checkRewardsSoFar looks for rewards in the wallets of agents that no owner may have verified by then, and for more than they may
// have earned.
func checkRewardsSoFar(r *run, f *Finding) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Operation != history.WalletHistory {
			continue
		}
		body, ok := answerOf[struct{ Entries []history.Entry }](a, f)
		if !ok {
			continue
		}
		f.Looked++
		granted := 0
		for _, e := range body.Entries {
			if e.Kind == reward {
				granted++
			}
		}
		if may := r.grounds(a.Agent); granted > may {
			f.violatedf("%s shows %d rewards, and the agent may have earned %d", describe(a), granted, may)
		}
		if granted > 0 && !r.mayBeProven(a.Agent, a.End) {
			f.violatedf("%s shows a reward, and no owner has verified the agent", describe(a))
		}
	}
}

func checkRewards(r *run, f *Finding) {
	checkRewardsSoFar(r, f)
	for _, agent := range sorted(r.Final.Onboarding) {
		var card struct {
			EmailVerification verification `json:"email_verification"`
			Rewards           rewards      `json:"rewards"`
		}
		if json.Unmarshal(r.Final.Onboarding[agent], &card) != nil {
			continue // checkOwners reports it
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
		var entered []int64
		for _, e := range r.Final.Entries[agent] {
			if e.Kind == reward {
				entered = append(entered, e.DeltaMinor)
			}
		}
		if slices.Sort(granted); !slices.Equal(granted, slices.Sorted(slices.Values(entered))) {
			f.violatedf("%s was granted the rewards %v, and its wallet has %v", agent, granted, entered)
		}
	}
}

// grounds counts the grounds of rewards that an agent may have met: each is rewarded once.
func (r *run) grounds(agent string) (may int) {
	for _, member := range []string{`"avatar_`, `"character_`, `"specialty"`} {
		if r.hasSent(agent, member) {
			may++
		}
	}
	return may
}

// hasSent says that an agent may have set a member of its profile.
func (r *run) hasSent(agent, member string) bool {
	return slices.ContainsFunc(r.Attempts, func(a history.Attempt) bool {
		return a.Operation == history.ProfileUpdate && a.Agent == agent && mayHaveActed(&a) && strings.Contains(string(a.Sent), member)
	})
}

// mayBeProven says that an owner may have verified an agent by a moment, before its registration or after it.
func (r *run) mayBeProven(agent string, at time.Duration) bool {
	return r.mayBeOwned(agent, at) || slices.ContainsFunc(r.Attempts, func(a history.Attempt) bool {
		return a.Operation == history.RegistrationVerify && a.Agent == agent && mayHaveActed(&a)
	})
}

// mayBeComplete says that an agent may have named its specialty, which a complete profile has.
func (r *run) mayBeComplete(agent string) bool {
	return slices.ContainsFunc(r.Attempts, func(a history.Attempt) bool {
		s := sent(&a)
		return a.Operation == history.ProfileUpdate && a.Agent == agent && mayHaveActed(&a) && s.Specialty != nil && *s.Specialty != ""
	})
}
