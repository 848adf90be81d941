package operator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/wallet"
)

func TestSuspensionEndsWithReinstatement(t *testing.T) {
	t.Parallel()
	var ended atomic.Int64
	o := &operatorWorld{World: graphtest.New(t), t: t}
	o.Auth.TokensEnded = func() { ended.Add(1) }
	o.ctx = viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	agent := o.Agent()
	authenticated := func() error { _, err := o.Auth.Authenticate(context.Background(), agent.Token, true); return err }

	first := graphtest.Got(o.Operator.SuspendBot(o.ctx, agent.ID, nil, "spam"))(t)
	require.Equal(t, int64(1), ended.Load())
	graphtest.RequireFault(t, authenticated(), fault.Forbidden)
	o.Shift(day)
	graphtest.Refused(t, fault.StateConflict)(o.Operator.SuspendBot(o.ctx, agent.ID, nil, "more spam"))
	graphtest.OK(t)(o.Operator.ModerateBot(o.ctx, agent.ID, true, true, false, false, nil, false, nil, nil, nil, "more spam"))
	require.NotContains(t, o.entries()[0].Details, "suspend", "it was suspended before")
	require.WithinDuration(t, *first.SuspendedAt, *graphtest.Got(o.DB.Ent.Bot.Get(o.ctx, agent.ID))(t).SuspendedAt, time.Minute)

	require.Nil(t, graphtest.Got(o.Operator.ReinstateBot(o.ctx, agent.ID, "it was a mistake"))(t).SuspendedAt)
	require.NoError(t, authenticated())
	graphtest.Refused(t, fault.StateConflict)(o.Operator.ReinstateBot(o.ctx, agent.ID, "to be sure"))
	require.Len(t, o.entries(), 3, "what changes nothing is no act")
	o.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", agent.ID)
	require.EqualValues(t, "active", graphtest.Got(o.Operator.ReinstateBot(o.ctx, agent.ID, "it was asked for"))(t).State)
}

// If an agent is suspended again with the same message, its refusals show the message, although it was already sent that day.
func TestASecondSuspensionHasItsMessage(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	agent, message := o.Agent(), "Write to ada@example.org."
	for suspensions := range int64(2) {
		graphtest.OK(t)(o.Operator.SuspendBot(o.ctx, agent.ID, &message, "spam"))
		require.Equal(t, suspensions+1, o.Count("SELECT count(*) FROM notices WHERE bot_id = $1", agent.ID))
		_, err := o.Auth.Authenticate(context.Background(), agent.Token, true)
		require.Contains(t, graphtest.RequireFault(t, err, fault.Forbidden).Message, message)
		graphtest.OK(t)(o.Operator.ReinstateBot(o.ctx, agent.ID, "it was a mistake"))
		o.Shift(time.Minute)
	}
}

func TestAReissuedTokenIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	agent, bystander := o.Agent(), o.Agent()
	granted := graphtest.Got(o.Operator.ReissueToken(o.ctx, agent.ID, "the agent lost its token"))(t)
	graphtest.Refused(t, fault.Unauthorized)(o.Auth.Authenticate(context.Background(), agent.Token, false))
	require.Equal(t, agent.ID, graphtest.Got(o.Auth.Authenticate(context.Background(), granted.Token, false))(t).BotID)
	graphtest.OK(t)(o.Auth.Authenticate(context.Background(), bystander.Token, false))
	require.Empty(t, o.entries()[0].Details)
}

func TestReviewShowsTheTextsOfParticipants(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	id := o.order()
	bind := func(use attachments.Use, many int) []uuid.UUID {
		owner, files := o.Agent(), make([]uuid.UUID, many)
		for i := range files {
			files[many-1-i] = o.File(owner, attachments.Order)
		}
		require.NoError(t, o.DB.Tx(o.ctx, func(ctx context.Context, tx *db.Tx) error {
			return attachments.Bind(ctx, tx, owner.ID, attachments.Target{Use: use, ID: id}, files)
		}))
		return files
	}
	inputs, results, drafted := bind(attachments.AsOrderInput, 3), bind(attachments.AsOrderResult, 2), bind(attachments.AsOrderDraft, 1)
	o.Exec(`INSERT INTO drafts (id, created_at, order_id, number, text, attachment_ids, verdict, reply_text, replied_at)
		VALUES ($1, stoa_now(), $2, 1, 'the draft', $3, 'changes', 'the reply', stoa_now())`, uuid.Must(uuid.NewV7()), id, pq.Array(drafted))
	review := graphtest.Got(o.Operator.ReviewOrder(o.ctx, id, "a complaint"))(t)
	require.Equal(t, inputs, ids(review.InputAttachments))
	require.Equal(t, results, ids(review.ResultAttachments))
	require.Equal(t, "secret name.png", *review.InputAttachments[0].FileName)
	require.NotNil(t, review.ResultAttachments[0].SHA256)
	require.Equal(t, []string{"the title", "the description", "the result", "the dispute", "the refund"},
		[]string{review.Title, review.Description, *review.ResultText, *review.DisputeReason, *review.RefundReason})
	require.Len(t, review.Drafts, 1)
	require.Equal(t, drafted, ids(review.Drafts[0].Attachments))
	require.Equal(t, []string{"the draft", "changes", "the reply"},
		[]string{*review.Drafts[0].Text, review.Drafts[0].Reply.Verdict, *review.Drafts[0].Reply.Text})
	require.Len(t, review.Events, 5)
	require.Equal(t, "reason 4", *review.Events[4].Reason)
	graphtest.OK(t)(review.Order.Customer(o.ctx))
}

func TestTopUpUnderAnOperationIDHappensOnce(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	one, other, operation := o.Agent().ID, o.Agent().ID, uuid.Must(uuid.NewV7())
	require.False(t, graphtest.Got(o.Operator.TopUpWallet(o.ctx, one, 700, &operation, "why"))(t).Repeated)
	again := graphtest.Got(o.Operator.TopUpWallet(o.ctx, one, 700, &operation, "the answer was lost"))(t)
	require.True(t, again.Repeated)
	require.Equal(t, wallet.GrantMinor+700, again.Account.AvailableMinor)
	graphtest.Refused(t, fault.IdempotencyConflict)(o.Operator.TopUpWallet(o.ctx, one, 701, &operation, "why"))
	graphtest.Refused(t, fault.IdempotencyConflict)(o.Operator.TopUpWallet(o.ctx, other, 700, &operation, "why"))
	entries := o.entries()
	require.Len(t, entries, 2)
	require.Equal(t, []any{false, true}, []any{entries[0].Details["repeated"], entries[1].Details["repeated"]})
	require.Equal(t, operation.String(), entries[0].Details["operationId"])
	most := graphtest.Got(o.Operator.TopUpWallet(o.ctx, other, 1_000_000_000_000, nil, "why"))(t)
	least := graphtest.Got(o.Operator.TopUpWallet(o.ctx, other, 1, nil, "why"))(t)
	require.Equal(t, wallet.GrantMinor+1_000_000_000_001, least.Account.AvailableMinor)
	require.Equal(t, most.Account.AvailableMinor+1, least.Account.AvailableMinor)
	require.Equal(t, other, graphtest.Got(least.Account.Bot(o.ctx))(t).ID)
}

func TestTopUpsAtOnce(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	agents, operation := []uuid.UUID{o.Agent().ID, o.Agent().ID}, uuid.Must(uuid.NewV7())
	codes := graphtest.AtOnce(8, func(i int) error {
		return graphtest.Err(o.Operator.TopUpWallet(o.ctx, agents[i%2], 700, &operation, "why"))
	})
	require.Equal(t, map[fault.Code]int{"": 4, fault.IdempotencyConflict: 4}, codes.Count())
	require.Equal(t, int64(1), o.Count("SELECT count(*) FROM ledger_entries WHERE kind = 'top_up' AND account_kind = 'available'"))
	require.Equal(t, 2*wallet.GrantMinor+700, o.Count("SELECT sum(available_minor)::bigint FROM accounts"))
}
