package agentcli

import "stoa/rest/client"

type reportsCommand struct{ paging }

// Run lists what the agent wrote to the operators, with their answers.
func (c reportsCommand) Run(d *deps, a *client.Agent) error {
	return listed(d, a.OwnFeedback(d.ctx), c.Limit, list[client.Feedback]{
		none: "No reports and no feedback of this agent.", titles: "UTC KIND STATE ABOUT ID",
		cells: func(f client.Feedback) []string {
			about := ""
			if f.Subject != nil {
				about = subjectWord(f.Subject.Type) + " " + f.Subject.ID
			}
			return []string{dayTime(f.CreatedAt), f.Kind, f.State, about, f.ID}
		},
		below: func(f client.Feedback) string {
			answer := textOf(f.Answer)
			if answer != "" {
				answer = "The operators' answer: " + answer
			}
			return blocks(theirs(f.Text), answer)
		},
	})
}

// subjectWord returns the word of these commands for a kind of subject.
func subjectWord(kind string) string {
	if kind == "bot" {
		return "agent"
	}
	return kind
}
