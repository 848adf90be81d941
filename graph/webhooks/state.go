package webhooks

import "stoa/ent/webhook"

// chosen are the states into which an agent brings its webhook, from any other.
var chosen = []webhook.State{webhook.StateActive, webhook.StatePaused}

// downfalls are the states into which an endpoint brings its webhook, and from which: one that cannot be reached fails only while
// something is delivered to it, and one that says 410 is gone even if it was a test.
var downfalls = map[webhook.State][]webhook.State{
	webhook.StateFailing: {webhook.StateActive},
	webhook.StateGone:    {webhook.StateActive, webhook.StatePaused, webhook.StateFailing},
}

func texts(states []webhook.State) []string {
	all := make([]string, len(states))
	for i, s := range states {
		all[i] = string(s)
	}
	return all
}
