package contacts_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/profiles"
)

// Every transition of §3.2 after the request, by either agent.
func TestTransitions(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	accept, block := act(w.Contacts.AcceptContact), act(w.Contacts.BlockContact)
	blockAgent := func(ctx context.Context, in contacts.ActInput) (*contacts.ContactResult, error) {
		other := graphtest.Column[string](w, "SELECT (CASE low_id WHEN $2::uuid THEN high_id ELSE low_id END)::text "+
			"FROM contacts WHERE id = $1", in.ContactID, viewer.From(ctx).BotID)[0]
		return w.Contacts.BlockBot(ctx, contacts.BlockInput{BotID: &other})
	}
	for _, test := range []struct {
		name    string
		from    string
		do      act
		bySelf  bool // by the agent that asked
		to      string
		status  string
		refusal fault.Code
		tells   events.Kind
		shown   string // the status in the event
	}{
		{"accept", "pending", accept, false, "accepted", "friends", "", events.ContactAccepted, "friends"},
		{"accept by the requester", "pending", accept, true, "pending", "", fault.RecipientRequired, "", ""},
		{"repeated accept", "accepted", accept, false, "accepted", "friends", "", "", ""},
		{"accept by the requester of a friend", "accepted", accept, true, "accepted", "", fault.RecipientRequired, "", ""},
		{"accept when blocked", "blocked", accept, false, "blocked", "", fault.ContactBlocked, "", ""},
		{"accept by the requester when blocked", "blocked", accept, true, "blocked", "", fault.RecipientRequired, "", ""},
		{"block a request", "pending", block, false, "blocked", "blocked", "", events.ContactBlocked, "blocked"},
		{"block one's own request", "pending", block, true, "blocked", "blocked", "", events.ContactBlocked, "blocked"},
		{"block a friend", "accepted", block, false, "blocked", "blocked", "", events.ContactBlocked, "blocked"},
		{"block a friend, as requester", "accepted", block, true, "blocked", "blocked", "", events.ContactBlocked, "blocked"},
		{"block the agent of a request", "pending", blockAgent, false, "blocked", "blocked", "", events.ContactBlocked, "blocked"},
		{"block the agent that one has asked", "pending", blockAgent, true, "blocked", "blocked", "", events.ContactBlocked, "blocked"},
		{"block the agent of a friend", "accepted", blockAgent, false, "blocked", "blocked", "", events.ContactBlocked, "blocked"},
		{"repeated block", "blocked", block, false, "blocked", "blocked", "", "", ""},
		{"block by the other one", "blocked", block, true, "blocked", "blocked", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			asker, asked := w.Agent(), w.Agent()
			id := w.Asked(asker, asked)
			switch test.from {
			case "accepted":
				w.Befriend(asker, asked)
			case "blocked":
				w.Block(asked, id)
			}
			actor, other := asked, asker
			if test.bySelf {
				actor, other = asker, asked
			}
			w.Exec("DELETE FROM events WHERE recipient_id IN ($1, $2)", asker.ID, asked.ID)

			result, err := test.do(actor.Ctx, on(id))
			if test.refusal != "" {
				graphtest.RequireFault(t, err, test.refusal)
			} else {
				require.NoError(t, err)
				require.False(t, result.Repeated)
				require.Equal(t, id, result.Contact.ID)
				require.Equal(t, test.to, result.Contact.State)
				require.Equal(t, test.status, result.Contact.Friendship.Status)
				require.Equal(t, other.ID, result.Contact.Bot.ID)
				require.Equal(t, test.bySelf, result.Contact.RequestedByMe)
				require.Equal(t, test.from == "accepted" || test.to == "accepted", result.Contact.AcceptedAt != nil)
			}
			require.EqualValues(t, 1, w.Count("SELECT count(*) FROM contacts WHERE id = $1 AND state = $2", id, test.to))
			want := []outboxEvent{}
			if test.tells != "" {
				want = append(want, outboxEvent{test.tells, events.ContactPayload{ContactID: id, BotID: actor.ID, FriendshipStatus: test.shown}})
			}
			require.Equal(t, want, outbox(t, w, other))
			require.Empty(t, outbox(t, w, actor))
		})
	}
}

func TestContactsOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other, stranger := w.Agent(), w.Agent(), w.Agent()
	id := w.Asked(one, other)
	for _, do := range []act{w.Contacts.AcceptContact, w.Contacts.BlockContact} {
		graphtest.Refused(t, fault.NotFound)(do(stranger.Ctx, on(id)))
		graphtest.Refused(t, fault.NotFound)(do(other.Ctx, on(uuid.New())))
		graphtest.RefusedField(t, fault.InvalidID, "contact_id")(do(other.Ctx, contacts.ActInput{ContactID: "me"}))
	}
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM contacts WHERE state = 'pending'"))
}

func TestAcceptNeedsBothActive(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for _, set := range []string{"state = 'trash'", "state = 'deleted'", "suspended_at = stoa_now()"} {
		for _, inactive := range []int{0, 1} {
			pair := []*graphtest.Agent{w.Agent(), w.Agent()}
			id := w.Asked(pair[0], pair[1])
			w.Exec("UPDATE bots SET "+set+" WHERE id = $1", pair[inactive].ID)
			graphtest.Refused(t, fault.InactiveBot)(w.Contacts.AcceptContact(pair[1].Ctx, on(id)))
			graphtest.Refused(t, fault.RecipientRequired)(w.Contacts.AcceptContact(pair[0].Ctx, on(id)))
			w.Block(pair[inactive], id)
			graphtest.Refused(t, fault.ContactBlocked)(w.Contacts.AcceptContact(pair[1].Ctx, on(id)))
		}
	}
	one, other := w.Agent(), w.Agent()
	id := w.Befriend(one, other)
	w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", one.ID)
	graphtest.OK(t, "a repeat comes before the rules")(w.Contacts.AcceptContact(other.Ctx, on(id)))
}

func TestBlockTakesBackAnnouncementsOfThePairAlone(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other, third := w.Agent(), w.Agent(), w.Agent()
	id := w.Befriend(one, other)
	w.Befriend(one, third)
	w.Befriend(other, third)
	w.Sent(one, other)
	w.Sent(other, one)
	for _, kept := range [][2]*graphtest.Agent{{one, third}, {third, one}, {third, other}} {
		w.Sent(kept[0], kept[1])
	}
	w.Exec("DELETE FROM events WHERE kind LIKE 'contact.%'")
	w.Block(other, id)
	require.EqualValues(t, 3, w.Count("SELECT count(*) FROM events WHERE kind = 'message.created'"))
	require.Zero(t, w.Count("SELECT count(*) FROM events WHERE contact_id = $1", id))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events WHERE kind = 'contact.blocked' AND recipient_id = $1", one.ID))
	require.EqualValues(t, 5, w.Count("SELECT count(*) FROM messages"))
}

// The cost of a block does not depend on how many announcements wait. The others are never delivered, and a job deletes them.
func TestABlockReadsABoundedPartOfBothQueues(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	id := w.Befriend(one, other)
	w.Exec("DELETE FROM events")
	sent := w.Sent(one, other)
	w.Exec(`INSERT INTO events (id, created_at, recipient_id, kind, payload, contact_id, message_id)
		SELECT gen_random_uuid(), stoa_now(), $1, 'message.created', '{}', $2, $3 FROM generate_series(1, 9999)`, other.ID, id, sent.ID)
	w.Exec("ANALYZE events")
	read := w.RowsRead("events", graphtest.Statement("delete_announcements"), id, one.ID, other.ID, string(events.MessageCreated))
	require.LessOrEqual(t, read, int64(2*2000+10), "rows that are found, and then deleted by their ids")

	w.Block(other, id)
	require.EqualValues(t, 8000, w.Count("SELECT count(*) FROM events WHERE contact_id = $1", id))
	batch := graphtest.Got(w.Events.Fetch(t.Context(), events.Cursor{Recipient: other.ID, Version: events.LatestVersion, Size: 16}))(t)
	require.Empty(t, batch.Events)
	require.EqualValues(t, 8000-16, graphtest.Got(w.Events.DeleteStale(t.Context()))(t))
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM events"), "contact.blocked")
}

// In any order of accept and block, the contact ends blocked, and the events match the changes.
func TestAcceptAndBlockAtOnce(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	for range 10 {
		one, other := w.Agent(), w.Agent()
		id := w.Asked(one, other)
		w.Exec("DELETE FROM events")
		codes := graphtest.AtOnce(2, func(i int) (err error) {
			if i == 0 {
				_, err = w.Contacts.AcceptContact(other.Ctx, on(id))
			} else {
				_, err = w.Contacts.BlockContact(one.Ctx, on(id))
			}
			return err
		})
		require.Empty(t, codes[1])
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM contacts WHERE id = $1 AND state = 'blocked' AND blocked_by = $2", id, one.ID))
		require.Len(t, outbox(t, w, other), 1)
		if codes[0] == "" {
			require.Len(t, outbox(t, w, one), 1)
		} else {
			require.Equal(t, fault.ContactBlocked, codes[0])
			require.Empty(t, outbox(t, w, one))
		}
	}
}

func TestConcurrentRepeatsWriteOneEvent(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	one, other := w.Agent(), w.Agent()
	id := w.Asked(one, other)
	for _, do := range []act{w.Contacts.AcceptContact, w.Contacts.BlockContact} {
		w.Exec("DELETE FROM events")
		codes := graphtest.AtOnce(8, func(int) error { return graphtest.Err(do(other.Ctx, on(id))) })
		require.Equal(t, 8, codes.Count()[""])
		require.Len(t, outbox(t, w, one), 1)
		require.Empty(t, outbox(t, w, other))
	}
}

// The requester is compared with the friends of the recipient, in the recipient's event and list. Requests and blocked agents are
// no friends.
func TestARequestNamesResembledFriends(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	named := func(name string) *graphtest.Agent {
		agent := w.Agent()
		graphtest.OK(t)(w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{DisplayName: &name}))
		w.Exec("UPDATE bots SET handle = 'h' || substr(md5(id::text), 1, 20) WHERE id = $1", agent.ID)
		return agent
	}
	handle := func(agent *graphtest.Agent) string {
		return graphtest.Column[string](w, "SELECT handle FROM bots WHERE id = $1", agent.ID)[0]
	}
	reader, friend, pending, blocked := named("Reader"), named("Paypal"), named("PAYPAL"), named("paypal")
	w.Befriend(friend, reader)
	graphtest.OK(t)(ask(w, pending, reader.ID))
	graphtest.OK(t)(w.Contacts.BlockContact(blocked.Ctx, on(w.Befriend(blocked, reader))))

	swindler := named("РayPaI")
	// The friend's name is the newer one: the reader is warned all the same.
	w.Exec("UPDATE bots SET created_at = stoa_now(), named_at = stoa_now() WHERE id = $1", friend.ID)
	made := graphtest.Got(ask(w, swindler, reader.ID))(t)
	require.Equal(t, []string{}, made.Contact.Resembles, "the reader is no friend of the swindler")
	events := outbox(t, w, reader)
	require.Equal(t, []string{handle(friend)}, events[len(events)-1].Payload.Resembles)
	listed := graphtest.Got(w.Contacts.MyContacts(reader.Ctx, contacts.ListInput{}))(t)
	require.Len(t, listed.Contacts, 4)
	for _, c := range listed.Contacts {
		want := []string{handle(friend)}
		if c.Bot.ID == friend.ID {
			want = []string{}
		}
		require.Equal(t, want, c.Resembles, c.Bot.DisplayName)
	}
	accepted := graphtest.Got(w.Contacts.AcceptContact(reader.Ctx, on(made.Contact.ID)))(t)
	require.Equal(t, []string{handle(friend)}, accepted.Contact.Resembles)

	card := graphtest.Got(w.Profiles.BotCard(reader.Ctx, profiles.BotInput{BotID: swindler.ID.String()}))(t)
	require.Equal(t, []string{handle(friend)}, card.Bot.Resembles)

	none := graphtest.Got(contacts.Resembled(t.Context(), w.DB.SQL, uuid.Nil, text.Names{Handle: "x", DisplayName: "Paypal"}))(t)
	require.Equal(t, [][]string{{}}, none, "a reader without a token")
}
