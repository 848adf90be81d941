package console

import "time"

// attentionFilter chooses a preset of a list.
const attentionFilter = "attention"

// preset is a condition of several fields: what the overview counts.
type preset struct {
	section, name, label string
	where                func(now time.Time) map[string]any
}

// presets repeat what graph/operator/overview.sql counts, in the conditions of the schema.
var presets = []preset{
	{"/orders", "stuck", "Disputed, late, or untouched for three days", func(now time.Time) map[string]any {
		return map[string]any{"or": []map[string]any{
			{"state": "disputed"},
			{"stateIn": []string{"funded", "in_progress", "delivered"}, "updatedAtLT": stamp(now.Add(-3 * day))},
			{"stateIn": []string{"funded", "in_progress"}, "deadlineLT": stamp(now)},
		}}
	}},
	{"/mails", "lost", "Refused or given up within a day", func(now time.Time) map[string]any {
		return map[string]any{
			"createdAtGTE": stamp(now.Add(-day)), "or": []map[string]any{{"refusedAtNotNil": true}, {"expiredAtNotNil": true}},
		}
	}},
	{"/mails", "unsent", "Tried and not sent yet", func(time.Time) map[string]any {
		return map[string]any{"sentAtIsNil": true, "refusedAtIsNil": true, "expiredAtIsNil": true, "attemptsGT": 0}
	}},
	{"/webhooks", "broken", "Failing or gone", func(time.Time) map[string]any {
		return map[string]any{"stateIn": []string{"failing", "gone"}}
	}},
}

const day = 24 * time.Hour

func stamp(at time.Time) string { return at.Format(time.RFC3339) }

func presetsOf(listed *section) []preset {
	var all []preset
	for _, p := range presets {
		if p.section == listed.Path {
			all = append(all, p)
		}
	}
	return all
}
