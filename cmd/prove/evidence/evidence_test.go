package evidence_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/evidence"
	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

const (
	short = "00000000-0000-7000-8000-000000000001"
	long  = "00000000-0000-7000-8000-000000000002"
)

// A violation comes with what names the same things, in the order of time, and the shortest story comes first.
func TestCasesOfViolations(t *testing.T) {
	t.Parallel()
	h := &history.History{
		Attempts: []history.Attempt{
			{Operation: "order.get", Agent: "bob", Subject: long, Start: 3 * time.Second, Status: 200, Body: json.RawMessage(`{"order":{}}`)},
			{Operation: "order.accept", Agent: "ann", ID: long, Start: time.Second, Status: 409, Code: "state_conflict"},
			{Operation: "order.get", Agent: "ann", Subject: short, Start: time.Second, Failure: "reset"},
			{Operation: "tasks.list", Agent: "cat", Start: time.Second, Status: 200},
		},
		Deliveries: []history.Delivery{{Agent: "bob", EventID: "e", Kind: "order.changed", At: 2 * time.Second, Payload: json.RawMessage(`{"order_id":"` + long + `"}`)}},
		Acks:       []history.Ack{{Agent: "bob", EventID: long, Answered: 4 * time.Second}},
		Mails:      []history.Mail{{To: "a@b.example", Challenge: long, At: 5 * time.Second}},
	}
	cases := evidence.Of(h, []judge.Finding{
		{Name: "orders", Count: 2, Violations: []string{"order " + long + " is wrong", "order " + short + " is wrong"}},
	})
	require.Len(t, cases, 2)
	require.Contains(t, cases[0].Violation, short)
	require.Len(t, cases[0].Lines, 1)
	require.Len(t, cases[1].Lines, 5)
	for i, word := range []string{"409 state_conflict", "order.changed to bob", `200 {"order":{}}`, "ack of event", "mail"} {
		require.Contains(t, cases[1].Lines[i].Text, word)
	}
	var text strings.Builder
	evidence.Print(&text, cases)
	require.Less(t, strings.Index(text.String(), short), strings.Index(text.String(), long))
	require.NotContains(t, text.String(), "tasks.list")
}
