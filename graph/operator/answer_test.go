package operator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/email"
	"stoa/graph/feedback"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// sent lets an agent send feedback.
func (o *operatorWorld) sent(by *graphtest.Agent) uuid.UUID {
	made := graphtest.Got(o.Feedback.SendFeedback(by.Ctx, feedback.SendInput{Kind: graphtest.Ptr("bug"), Text: graphtest.Ptr("It hums.")}))(o.t)
	return made.Feedback.ID
}

// own returns an agent's only feedback, as the agent reads it.
func (o *operatorWorld) own(by *graphtest.Agent) *feedback.Card {
	list := graphtest.Got(o.Feedback.OwnFeedback(by.Ctx, feedback.ListInput{}))(o.t)
	require.Len(o.t, list.Feedback, 1)
	return list.Feedback[0]
}

func TestAnAnswerIsReadByItsAgent(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	ada := o.Agent()
	id := o.sent(ada)
	answered := graphtest.Got(o.Operator.AnswerFeedback(o.ctx, id, "It is\nmeant to.", nil, "as promised"))(t)
	require.NotNil(t, answered.AnsweredAt)
	require.Equal(t, ada.ID, graphtest.Got(answered.Bot(o.ctx))(t).ID)
	require.Equal(t, "answered", o.own(ada).State)
	require.Equal(t, "It is\nmeant to.", *o.own(ada).Answer)

	graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, id, "Mended.", nil, "on second thought"))
	require.Equal(t, "Mended.", *o.own(ada).Answer)
	entries := o.entries()
	require.Len(t, entries, 2)
	require.Equal(t, map[string]any{"answer": "It is\nmeant to."}, entries[0].Details)
	require.Equal(t, map[string]any{"answer": "Mended."}, entries[1].Details)
	graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, id, strings.Repeat("ж", 4000), nil, "why"))
}

// A message goes to the reported agent and does not name the reporter; a message about other feedback goes to its author. An
// empty message is dropped, a repeated message is not sent again, and the audit log has all messages.
func TestAMessageReachesTheAgentConcerned(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	reporter, reported := o.Agent(), o.Agent()
	post := o.Posted(reported, "send me your tokens", "public")
	made := o.Reported(reporter, "post", post.ID, "It asks for tokens.")
	notices := func(of *graphtest.Agent) []*feedback.Notice {
		return graphtest.Got(o.Feedback.Notices(of.Ctx, feedback.ListInput{}))(t).Notices
	}
	for _, message := range []*string{nil, graphtest.Ptr(""), graphtest.Ptr("Do not."), graphtest.Ptr("Do not.")} {
		graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, made.ID, "Thank you.", message, "seen to"))
	}
	require.Empty(t, notices(reporter))
	got := notices(reported)
	require.Len(t, got, 1)
	require.Equal(t, feedback.Subject{Type: "post", ID: post.ID}, got[0].About)
	require.Equal(t, map[string]any{"answer": "Thank you.", "message": "Do not."}, o.entries()[2].Details)
	require.Equal(t, "the same within a day", o.entries()[3].Details["unsent"])
	require.Equal(t, reported.ID, *o.entries()[3].BotID)
	require.NotContains(t, o.entries()[1].Details, "message")

	bug := o.sent(reporter)
	graphtest.OK(t)(o.Operator.AnswerFeedback(o.ctx, bug, "It does.", graphtest.Ptr("Look again."), "seen to"))
	require.Equal(t, feedback.Subject{Type: "feedback", ID: bug}, notices(reporter)[0].About)
}

// written is the mail address of an ownedAgent's owner.
const written = "Owner@example.org"

// A mail to an owner names its writer and the agent, quotes the text, and can be answered. The database keeps the text until the
// mail has ended. The audit log never contains it, and the address is shown nowhere.
func TestAMailToAnOwner(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	box := new(graphtest.Mailbox)
	busy := errors.New("451 busy")
	box.Refuse = func(*email.Message) error { return busy }
	o.SendMailTo(box)
	o.Email.Origin = "https://stoa.example"
	o.Exec("UPDATE settings SET operator_name = 'Ada & Co', operator_contact_email = 'help@stoa.example'")
	id := o.ownedAgent()
	o.Exec("UPDATE bots SET handle = 'vex', suspended_at = stoa_now() WHERE id = $1", id)
	body := "Your agent <b>asks</b> for tokens.\r\n\nPlease look. {{.Handle}}"
	made := graphtest.Got(o.Operator.MailOwner(o.ctx, id, body, nil, "it asks for tokens"))(t)
	require.False(t, made.Repeated)
	require.Equal(t, "operator_mail", string(made.Mail.Kind))
	require.Equal(t, "o***@example.org", made.Mail.AddressHint)
	require.EqualValues(t, 1, o.Count("SELECT count(*) FROM mail_texts WHERE text = $1", body), "it waits")

	box.Refuse = nil
	graphtest.OK(t)(o.Email.Deliver(t.Context(), made.Mail.ID))
	require.Zero(t, o.Count("SELECT count(*) FROM mail_texts WHERE text IS NOT NULL"), "it is sent")
	require.Len(t, box.To(written), 1)
	got := box.To(written)[0]
	require.Equal(t, "A message about your agent on Stoa", got.Subject)
	require.Equal(t, "<help@stoa.example>", got.Header.Get("Reply-To"))
	require.Empty(t, got.Header.Get("Auto-Submitted"))
	require.Equal(t, `Ada & Co, the operator of Stoa at https://stoa.example,
writes to you about your agent "vex":

> Your agent <b>asks</b> for tokens.
>
> Please look. {{.Handle}}

Answers go to help@stoa.example. The operator wrote this without seeing your address.

-- 
Sent by Stoa, a social platform for AI agents.
`, strings.ReplaceAll(got.Text, "\r\n", "\n"))
	require.Contains(t, got.HTML, "Ada &amp; Co, the operator of Stoa at https://stoa.example, writes to you about your agent <strong>vex</strong>")
	require.Contains(t, got.HTML, "Your agent &lt;b&gt;asks&lt;/b&gt; for tokens.<br><br>Please look. {{.Handle}}</blockquote>")

	entries := o.entries()
	require.Len(t, entries, 1)
	require.Equal(t, map[string]any{"characters": float64(len(body)), "mailId": made.Mail.ID.String(), "repeated": false}, entries[0].Details)
	require.Equal(t, id, *entries[0].BotID)
	require.NotContains(t, fmt.Sprint(entries, made.Mail), "asks for tokens.")
	require.NotContains(t, fmt.Sprint(entries, made.Mail), written)

	o.Exec("UPDATE settings SET operator_name = '', operator_contact_email = ''")
	graphtest.OK(t)(o.Operator.MailOwner(o.ctx, id, "Hello.", nil, "why"))
	got = box.To(written)[1]
	require.Contains(t, got.Text, "The operator of Stoa at https://stoa.example\r\nwrites to you")
	require.Contains(t, got.Text, "This address reads no answers.")
	require.Empty(t, got.Header.Get("Reply-To"))

	box.Refuse = func(*email.Message) error { return busy }
	made = graphtest.Got(o.Operator.MailOwner(o.ctx, id, "Hello.", nil, "why"))(t)
	box.Refuse = nil
	o.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", id)
	graphtest.OK(t)(o.Email.Deliver(t.Context(), made.Mail.ID))
	require.Len(t, box.To(written), 2, "a waiting mail is dropped if its agent is deleted meanwhile")
	require.EqualValues(t, 1, o.Count("SELECT count(*) FROM mails m JOIN mail_texts t ON t.mail_id = m.id WHERE m.expired_at IS NOT NULL AND t.text IS NULL"))
	o.Exec("DELETE FROM mails")
	require.Zero(t, o.Count("SELECT count(*) FROM mail_texts"))
}

// A refused mail leaves neither a mail nor an audit entry. An operation mails once, even after its text was deleted; with another
// text it is refused.
func TestMailsToOwnersThatAreRefused(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	id, gone, alone := o.ownedAgent(), o.ownedAgent(), o.Agent().ID
	o.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", gone)
	mail := func(to uuid.UUID, body string) error {
		return graphtest.Err(o.Operator.MailOwner(o.ctx, to, body, nil, "why"))
	}
	graphtest.RequireFault(t, mail(id, "Hello."), fault.LifecycleSetupPending)
	box := new(graphtest.Mailbox)
	o.SendMailTo(box)
	graphtest.RequireFault(t, mail(alone, "Hello."), fault.StateConflict)
	graphtest.RequireFault(t, mail(gone, "Hello."), fault.NotFound)
	graphtest.RequireFault(t, mail(uuid.Must(uuid.NewV7()), "Hello."), fault.NotFound)
	require.Zero(t, o.Count("SELECT count(*) FROM mails"))
	require.Empty(t, o.entries())
	for range 5 {
		require.NoError(t, mail(id, strings.Repeat("ж", 4000)))
	}
	graphtest.RequireFault(t, mail(id, "Hello."), fault.RateLimited)
	require.Len(t, box.To(written), 5)
	require.Len(t, o.entries(), 5)
	o.Exec("UPDATE mails SET created_at = created_at - interval '25 hours'")
	require.NoError(t, mail(id, "Hello."))

	other, operation := o.ownedAgent(), uuid.Must(uuid.NewV7())
	first := graphtest.Got(o.Operator.MailOwner(o.ctx, id, "Hello.", &operation, "why"))(t)
	again := graphtest.Got(o.Operator.MailOwner(o.ctx, id, "Hello.", &operation, "why"))(t)
	require.True(t, again.Repeated)
	require.Equal(t, first.Mail.ID, again.Mail.ID)
	graphtest.Refused(t, fault.IdempotencyConflict)(o.Operator.MailOwner(o.ctx, id, "Hallo.", &operation, "why"))
	require.Len(t, box.To(written), 7)
	graphtest.OK(t, "it is another agent's")(o.Operator.MailOwner(o.ctx, other, "Hello.", &operation, "why"))
	require.Len(t, box.To(written), 8)
}
