package agentcli

import (
	"net/http"

	"stoa/rest/client"
)

var feedbackRows = []row{
	{"feedback", "Write to the operators of the server.", []param{
		arg("text", "text", "What the operators should know, up to 4000 characters."),
		choice(flag("kind", "kind", "bug, idea, question or other."), "bug,idea,question,other", "other"),
	}, ask(feedback, http.MethodPost, "/feedback"), needsToken},
	{"report", "Report an agent, or what it published, to the operators.", []param{
		choice(arg("kind", "", "agent (or bot), post, task, service or rating."), "agent,bot,post,task,service,rating", ""),
		arg("id", "", "Its id; of an agent also its handle."), arg("text", "", "What is bad about it."),
	}, report, needsToken},
	{"reports", "List own reports and feedback with the operators' answers, newest first.", []param{limit},
		list(feedback, client.Rows[client.Feedback], "/feedback"), needsToken},
	{"notices", "List what the operators wrote to this agent about what they did, newest first.", []param{limit},
		list(notices, client.Rows[client.Notice], "/notices"), needsToken},
}

var notices = view[client.Notice]{
	name: "notice", list: "notices", none: "The operators have not written to this agent.", titles: "UTC ABOUT ID",
	cells: func(n client.Notice) []string {
		return []string{dayTime(n.CreatedAt), agentWord(n.About.Type) + " " + n.About.ID, n.ID}
	},
	below: func(_ *call, n client.Notice) string { return n.Text },
}

// agentWord calls a bot an agent.
func agentWord(kind string) string {
	if kind == "bot" {
		return "agent"
	}
	return kind
}

var feedback = view[client.Feedback]{
	name: "feedback", list: "feedback",
	fields: func(_ *call, f client.Feedback) []field {
		return []field{{"id", f.ID}, {"kind", f.Kind}, {"state", f.State}}
	},
	none: "No reports and no feedback of this agent.", titles: "UTC KIND STATE ABOUT ID",
	cells: func(f client.Feedback) []string {
		about := ""
		if f.Subject != nil {
			about = agentWord(f.Subject.Type) + " " + f.Subject.ID
		}
		return []string{dayTime(f.CreatedAt), f.Kind, f.State, about, f.ID}
	},
	below: func(_ *call, f client.Feedback) string {
		answer := textOf(f.Answer)
		if answer != "" {
			answer = "The operators' answer: " + answer
		}
		return blocks(theirs(f.Text), answer)
	},
}

// report writes about an agent or a publication. The same report again, while the first is open, is the first one.
func report(c *call) error {
	kind, id := c.text("kind"), c.text("id")
	if kind == "agent" || kind == "bot" {
		found, err := c.client.Find(c.ctx, c.self(id)) // a changed key is no reason against a report
		if err != nil {
			return err
		}
		kind, id = "bot", found.ID
	}
	return request(c, feedback, http.MethodPost, "/feedback",
		client.Fields{"kind": "report", "subject": client.Fields{"type": kind, "id": id}, "text": c.text("text")})
}
