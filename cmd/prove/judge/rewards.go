package judge

import (
	"encoding/json"
	"slices"
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

func checkRewards(r *run, f *Finding) {
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
