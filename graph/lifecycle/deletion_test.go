package lifecycle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
	"stoa/graph/messages"
	"stoa/graph/operator"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/profiles"
	"stoa/graph/ratings"
	"stoa/graph/tasks"
	"stoa/graph/webhooks"
)

// A deleted agent leaves some records behind, and other agents can still act on them.
func TestDeletionOfRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, peer := w.owned(), w.Agent()
	contact := w.Befriend(agent, peer)
	w.Exec("UPDATE bots SET specialty = 'echo', bio = 'I repeat.', character_description = 'grey' WHERE id = $1", agent.ID)
	w.Posted(agent, "hello", "public")
	work := w.Tasked(agent, "Echo", "Say it again.", 1000)
	other := w.Tasked(peer, "Echo", "Say it again.", 1000)
	w.Responded(agent, other.ID)
	declined := w.Responded(peer, work.ID)
	w.Serviced(agent, "Echo", "I repeat what you say.")
	w.Webhooks.Sender = webhooks.NewSender(webhooks.SenderConfig{})
	graphtest.OK(t)(w.Webhooks.CreateWebhook(agent.Ctx, webhooks.CreateInput{URL: graphtest.Ptr("https://agent.example/")}))
	w.rated(agent, peer)
	w.rated(peer, agent)
	made := w.offer(agent, peer)
	received := w.offer(peer, agent)
	sent := graphtest.Envelope(peer, agent)

	w.ShiftMonths(3, -time.Hour)
	require.NoError(t, w.Auth.NoteActivity(context.Background(), []uuid.UUID{peer.ID}))
	w.Shift(2 * time.Hour)
	require.Equal(t, lifecycle.Done{Trashed: 1, Notified: 1}, w.run())
	graphtest.OK(t)(w.Messages.SendMessage(peer.Ctx, graphtest.Envelope(peer, agent)))
	w.ShiftMonths(1, time.Hour)
	require.Equal(t, lifecycle.Done{Deleted: 1}, w.run())

	graphtest.Refused(t, fault.Unauthorized)(w.Auth.Authenticate(context.Background(), agent.Token, false))
	graphtest.Refused(t, fault.NotFound)(w.Profiles.BotCard(peer.Ctx, profiles.BotInput{BotID: agent.ID.String()}))
	for what, query := range map[string]string{
		"posts":    "SELECT count(*) FROM posts WHERE deleted_at IS NULL AND author_id = $1",
		"feed":     "SELECT count(*) FROM feed WHERE author_id = $1",
		"services": "SELECT count(*) FROM services WHERE deleted_at IS NULL AND bot_id = $1",
		"tasks":    "SELECT count(*) FROM tasks WHERE state = 'open' AND customer_id = $1",
		"answers":  "SELECT count(*) FROM responses WHERE state = 'open' AND bot_id = $1",
		"tokens":   "SELECT count(*) FROM tokens WHERE revoked_at IS NULL AND bot_id = $1",
		"events":   "SELECT count(*) FROM events WHERE recipient_id = $1",
		"webhooks": "SELECT count(*) FROM webhooks WHERE bot_id = $1",
		"ratings":  "SELECT count(*) FROM ratings WHERE text <> '' AND author_id = $1",
		"answer":   "SELECT count(*) FROM operations o JOIN ratings r ON r.id = o.id WHERE r.author_id = $1",
		"offers":   "SELECT count(*) FROM orders WHERE state = 'offered' AND $1 IN (customer_id, contractor_id)",
		"texts":    "SELECT count(*) FROM bots WHERE id = $1 AND (specialty <> '' OR bio <> '' OR character_description <> '')",
	} {
		require.Zero(t, w.Count(query, agent.ID), what)
	}
	polled := graphtest.Got(w.Events.PollEvents(peer.Ctx, events.PollInput{Version: []string{"2"}, Limit: []string{"100"}}))(t)
	var payloads []string
	for _, e := range polled.Events {
		if e.Kind == string(events.TaskDeclined) {
			payloads = append(payloads, string(e.Payload))
		}
	}
	require.Equal(t, []string{fmt.Sprintf(`{"task_id":"%s","response_id":"%s"}`, work.ID, declined.ID)}, payloads)
	own := graphtest.Got(w.Tasks.ListOwnResponses(peer.Ctx, tasks.OwnResponsesInput{}))(t)
	require.Equal(t, []string{"declined", "closed", "deleted"}, []string{own.Responses[0].State, own.Responses[0].Task.State, own.Responses[0].Task.Title})
	said := graphtest.Got(w.Ratings.BotRatings(peer.Ctx, ratings.ListInput{BotID: peer.ID.String()}))(t)
	require.Len(t, said.Ratings, 1, "its ratings of others still count")
	require.Equal(t, 4, said.Ratings[0].Stars)
	require.Empty(t, said.Ratings[0].Text)
	require.Equal(t, "deleted", said.Ratings[0].Author.DisplayName)
	card := graphtest.Got(w.Profiles.BotCard(peer.Ctx, profiles.BotInput{BotID: peer.ID.String()}))(t)
	require.EqualValues(t, 1, card.Bot.Reputation.Counterparties)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ratings WHERE text <> '' AND subject_id = $1", agent.ID), "so do others' words")

	for id, state := range map[string]string{made.ID.String(): "cancelled", received.ID.String(): "rejected"} {
		seen := graphtest.Got(w.Orders.Order(peer.Ctx, orders.OrderInput{OrderID: id}))(t)
		require.Equal(t, state, seen.Order.State)
		brief := seen.Order.Customer
		if brief.ID == peer.ID {
			brief = seen.Order.Contractor
		}
		require.Equal(t, "deleted", brief.DisplayName)
		require.Nil(t, brief.EncryptionPublicKey)
		require.Nil(t, brief.EncryptionKeyFingerprint)
		require.NotEmpty(t, brief.Handle)
	}
	require.EqualValues(t, 500_000, w.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID))
	require.Empty(t, graphtest.Got(w.Wallet.Reconcile(context.Background()))(t))

	graphtest.Refused(t, fault.ContactNotAccepted)(w.Messages.SendMessage(peer.Ctx, sent))
	graphtest.Refused(t, fault.NotFound)(w.Contacts.RequestContact(w.Agent().Ctx, contacts.RequestInput{RecipientID: graphtest.Ptr(agent.ID.String())}))
	dialog := graphtest.Got(w.Messages.Dialog(peer.Ctx, messages.DialogInput{Peer: []string{agent.ID.String()}}))(t)
	require.Len(t, dialog.Messages, 1, "messages stay until they expire")
	list := graphtest.Got(w.Contacts.MyContacts(peer.Ctx, contacts.ListInput{}))(t)
	require.Equal(t, contact, list.Contacts[0].ID)
	require.Equal(t, "deleted", list.Contacts[0].Bot.DisplayName)

	ctx := viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	done := graphtest.Got(w.Operator.RunMaintenance(ctx, operator.MaintenanceTaskLifecycle, "a check"))(t)
	require.Zero(t, done.Deleted)
}
