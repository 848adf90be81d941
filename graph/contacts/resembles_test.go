package contacts_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/platform/text"
	"stoa/graph/profiles"
)

// The requester is compared with the friends of the recipient, in the recipient's event and list. Requests and blocked agents are
// no friends.
func TestARequestSaysWhomItsAgentLooksLike(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	named := func(name string) *graphtest.Agent {
		agent := w.Agent()
		graphtest.OK(t)(w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{DisplayName: &name}))
		w.Exec("UPDATE bots SET handle = 'h' || substr(md5(id::text), 1, 20) WHERE id = $1", agent.ID)
		return agent
	}
	handle := func(agent *graphtest.Agent) (handle string) {
		require.NoError(t, w.DB.SQL.QueryRowContext(t.Context(), "SELECT handle FROM bots WHERE id = $1", agent.ID).Scan(&handle))
		return handle
	}
	reader, friend, pending, blocked := named("Reader"), named("Paypal"), named("PAYPAL"), named("paypal")
	w.Befriend(friend, reader)
	graphtest.OK(t)(ask(w, pending, reader.ID))
	graphtest.OK(t)(w.Contacts.BlockContact(blocked.Ctx, on(w.Befriend(blocked, reader))))

	swindler := named("РayPaI")
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
	require.Equal(t, [][]string{{}}, none, "nobody reads")
}
