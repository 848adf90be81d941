package judge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/cmd/prove/history"
)

// The order of these tests: ann is author and customer, bob the contractor, cat a stranger.
var three = parties{"ann", "ann", "bob"}

// asked is an attempt at an operation.
func asked(operation, agent, id string, version int64) *history.Attempt {
	return &history.Attempt{Operation: operation, Agent: agent, ID: id, Version: version}
}

// life performs operations one after another, each "agent operation", and requires that none is refused.
func life(t *testing.T, steps ...string) *order {
	t.Helper()
	o := new(order)
	for i, text := range steps {
		agent, operation, _ := strings.Cut(text, " ")
		answered, after, _ := o.act(three, asked("order."+operation, agent, fmt.Sprint(i), int64(i)))
		require.Equal(t, i+1, answered, text)
		o = after
	}
	return o
}

var (
	isOffered   = []string{"ann create"}
	isFunded    = append(isOffered, "bob accept")
	isStarted   = append(isFunded, "bob start")
	isDelivered = append(isStarted, "bob deliver")
	isProposed  = append(isFunded, "bob propose-refund")
)

// What §3.1 says of every operation, in words of its table.
func TestOrderRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before  []string
		request string
		version int64
		expect  string // the state that follows, or the code
	}{
		{isOffered, "bob accept", 1, funded},
		{isOffered, "bob reject", 1, rejected},
		{isOffered, "ann cancel", 1, cancelled},
		{isFunded, "bob start", 2, inProgress},
		{isStarted, "bob deliver", 3, delivered},
		{isDelivered, "ann complete", 4, closed},
		{isFunded, "ann dispute", 2, disputed},
		{isStarted, "bob dispute", 3, disputed},
		{isDelivered, "ann dispute", 4, disputed},
		{isFunded, "ann propose-refund", 2, disputed},
		{append(isFunded, "ann dispute"), "bob propose-refund", 3, disputed},
		{isProposed, "ann approve-refund", 3, closed},

		{isOffered, "cat accept", 1, "not_found"},
		{nil, "ann cancel", 1, "not_found"},
		{isOffered, "ann accept", 1, "counterparty_required"},
		{isOffered, "ann reject", 9, "counterparty_required"},
		{isOffered, "bob cancel", 1, "forbidden"},
		{isFunded, "ann start", 2, "forbidden"},
		{isStarted, "ann deliver", 3, "forbidden"},
		{isDelivered, "bob complete", 4, "forbidden"},
		{isProposed, "bob approve-refund", 9, "counterparty_required"},
		{isOffered, "bob accept", 2, "version_conflict"},
		{isFunded, "bob accept", 1, "version_conflict"},
		{isFunded, "bob accept", 2, "state_conflict"},
		{isFunded, "ann cancel", 2, "state_conflict"},
		{isOffered, "ann dispute", 1, "state_conflict"},
		{isOffered, "ann propose-refund", 1, "state_conflict"},
		{isOffered, "ann approve-refund", 1, "state_conflict"},
		{append(isOffered, "ann cancel"), "bob accept", 2, "state_conflict"},
		{append(isProposed, "ann approve-refund"), "ann approve-refund", 4, "state_conflict"},
		{append(isDelivered, "ann complete"), "ann propose-refund", 5, "state_conflict"},
		{isFunded, "ann approve-refund", 2, "refund_not_proposed"},
		{append(isFunded, "ann dispute"), "ann approve-refund", 3, "refund_not_proposed"},
		{isProposed, "ann propose-refund", 3, "refund_proposal_exists"},
	} {
		agent, operation, _ := strings.Cut(c.request, " ")
		answered, after, refusals := life(t, c.before...).act(three, asked("order."+operation, agent, "new", c.version))
		if answered == 0 {
			require.Equal(t, []string{c.expect}, refusals, "%v, then %s", c.before, c.request)
			continue
		}
		require.Equal(t, len(c.before)+1, answered)
		require.Equal(t, c.expect, after.state(), "%v, then %s", c.before, c.request)
		require.Equal(t, operation == "accept", len(refusals) > 0, "only the money can stop what the table allows")
	}
}

func TestOrderReplays(t *testing.T) {
	t.Parallel()
	o := life(t, isStarted...)
	answered, after, _ := o.act(three, asked(history.OrderAccept, "bob", "1", 1))
	require.Equal(t, 2, answered, "the version of then")
	require.Equal(t, o, after)
	for _, q := range []*history.Attempt{asked(history.OrderAccept, "bob", "1", 2), asked(history.OrderStart, "bob", "1", 3)} {
		_, _, refusals := o.act(three, q)
		require.Equal(t, []string{"idempotency_conflict"}, refusals)
	}
	_, _, refusals := o.act(three, asked(history.OrderAccept, "ann", "1", 1))
	require.Equal(t, []string{"counterparty_required"}, refusals, "an id is its agent's")
}

// ofOrder is a history of one order, whose requests begin and end at given seconds.
type ofOrder struct {
	h history.History
	o *order
}

func newOfOrder(t require.TestingT) *ofOrder {
	s := &ofOrder{h: history.History{Members: []history.Member{{Handle: "ann", ID: "A"}, {Handle: "bob", ID: "B"}}}, o: new(order)}
	s.act(t, 0, 1, asked(history.OrderCreate, "ann", "create", 0))
	return s
}

// act performs a request now and adds its attempt.
func (s *ofOrder) act(t require.TestingT, start, end int, q *history.Attempt) *history.Attempt {
	answered, after, refusals := s.o.act(three, q)
	a := history.Attempt{
		Agent: q.Agent, Operation: q.Operation, ID: q.ID, Subject: "x", Version: q.Version,
		Start: time.Duration(start) * time.Second, End: time.Duration(end) * time.Second,
	}
	if s.o = after; answered > 0 {
		a.Status, a.Body = http.StatusOK, s.body(t, answered)
	} else {
		a.Status, a.Code = http.StatusConflict, refusals[0]
	}
	s.h.Attempts = append(s.h.Attempts, a)
	return &s.h.Attempts[len(s.h.Attempts)-1]
}

func (s *ofOrder) read(t require.TestingT, start, end int) {
	s.h.Attempts = append(s.h.Attempts, history.Attempt{
		Agent: "ann", Operation: history.OrderGet, Subject: "x", Status: http.StatusOK, Body: s.body(t, len(s.o.versions)),
		Start: time.Duration(start) * time.Second, End: time.Duration(end) * time.Second,
	})
}

func (s *ofOrder) body(t require.TestingT, version int) json.RawMessage {
	var answer answer
	v := s.o.versions[version-1]
	answer.Order.ID, answer.Order.State, answer.Order.Version, answer.Order.Outcome = "x", v.state, int64(version), v.outcome
	answer.Order.AuthorID, answer.Order.CustomerID, answer.Order.ContractorID = "A", "A", "B"
	for i, v := range s.o.versions[:version] {
		answer.Events = append(answer.Events, orderEvent{
			Action: strings.TrimPrefix(v.operation, "order."), ParticipantID: map[string]string{"ann": "A", "bob": "B"}[v.agent],
			State: v.state, Version: int64(i + 1),
		})
	}
	raw, err := json.Marshal(answer)
	require.NoError(t, err)
	return raw
}

func (s *ofOrder) judged(t require.TestingT) []string {
	s.h.Final.Orders = map[string]json.RawMessage{"x": s.body(t, len(s.o.versions))}
	var f Finding
	checkOrders(newRun(&s.h), &f)
	return f.Violations
}

// lose takes an attempt's answer away.
func lose(a *history.Attempt) { a.Status, a.Code, a.Body = history.Unanswered, "", nil }

func TestUnansweredOrderRequests(t *testing.T) {
	t.Parallel()
	t.Run("had their effect", func(t *testing.T) {
		t.Parallel()
		s := newOfOrder(t)
		lose(s.act(t, 2, 3, asked(history.OrderAccept, "bob", "accept", 1)))
		s.read(t, 4, 5)
		require.Empty(t, s.judged(t))
	})
	t.Run("never had an effect", func(t *testing.T) {
		t.Parallel()
		s := newOfOrder(t)
		before := s.o
		lose(s.act(t, 2, 3, asked(history.OrderAccept, "bob", "accept", 1)))
		s.o = before
		s.read(t, 4, 5)
		require.Empty(t, s.judged(t))
	})
	t.Run("had their effect after the same request was refused", func(t *testing.T) {
		t.Parallel()
		s := newOfOrder(t)
		refused := *s.act(t, 2, 3, asked(history.OrderAccept, "bob", "accept", 1))
		lose(&s.h.Attempts[1])
		s.o = &order{s.o.versions[:1]}
		s.read(t, 4, 5)
		refused.Start, refused.End, refused.Status, refused.Code = 6*time.Second, 7*time.Second, 409, "insufficient_funds"
		s.h.Attempts = append(s.h.Attempts, refused)
		s.o = life(t, isOffered...).with(asked(history.OrderAccept, "bob", "accept", 1), funded, "")
		s.read(t, 8, 9)
		require.Empty(t, s.judged(t))
	})
	t.Run("had no effect before they began", func(t *testing.T) {
		t.Parallel()
		s := newOfOrder(t)
		lose(s.act(t, 4, 5, asked(history.OrderAccept, "bob", "accept", 1)))
		s.read(t, 2, 3)
		require.Contains(t, strings.Join(s.judged(t), ""), "explains order.get by ann (x) from 2.000s")
	})
	t.Run("had no effect after their answer", func(t *testing.T) {
		t.Parallel()
		s := newOfOrder(t)
		before := s.o
		s.act(t, 2, 3, asked(history.OrderAccept, "bob", "accept", 1))
		after := s.o
		s.o = before
		s.read(t, 4, 5)
		s.o = after
		require.Contains(t, strings.Join(s.judged(t), ""), "explains order.get by ann (x) from 4.000s")
	})
}

// Any sequence of requests that the rules answer is accepted, with some answers lost; with one answer changed it is not.
func TestOrderModelProperty(t *testing.T) {
	t.Parallel()
	operations := sorted(rules)
	rapid.Check(t, func(t *rapid.T) {
		s := newOfOrder(t)
		at := 2
		for range rapid.IntRange(1, 12).Draw(t, "requests") {
			q := asked(
				rapid.SampledFrom(operations).Draw(t, "operation"), rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "agent"),
				fmt.Sprint(at), int64(len(s.o.versions))-int64(rapid.IntRange(0, 4).Draw(t, "behind")/4),
			)
			a := s.act(t, at, at+1, q)
			if rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
				repeated := *a
				lose(a)
				repeated.Start, repeated.End = repeated.Start+time.Second, repeated.End+time.Second
				if repeated.Succeeded() && rapid.Bool().Draw(t, "repeated") {
					s.h.Attempts = append(s.h.Attempts, repeated)
				}
			}
			s.read(t, at+3, at+3)
			at += 4
		}
		require.Empty(t, s.judged(t))

		changed := &s.h.Attempts[rapid.IntRange(0, len(s.h.Attempts)-1).Draw(t, "changed")]
		switch {
		case changed.Status == history.Unanswered:
			return
		case changed.Succeeded():
			var answer answer
			require.NoError(t, json.Unmarshal(changed.Body, &answer))
			answer.Order.Version++
			raw, err := json.Marshal(answer)
			require.NoError(t, err)
			changed.Body = raw
		default:
			changed.Code = map[bool]string{true: "forbidden", false: "state_conflict"}[changed.Code == "state_conflict"]
		}
		require.NotEmpty(t, s.judged(t))
	})
}
