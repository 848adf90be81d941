package contacts_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

func TestContactsListShowsEveryStateNewestFirst(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	me := w.Agent()
	empty := graphtest.Got(w.Contacts.MyContacts(me.Ctx, contacts.ListInput{}))(t)
	require.Equal(t, &contacts.ContactList{Contacts: []*contacts.Card{}}, empty)

	others := []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent(), w.Agent()}
	outgoing := w.Asked(me, others[0])
	incoming := w.Asked(others[1], me)
	friends := w.Befriend(me, others[2])
	blocked := w.Befriend(others[3], me)
	w.Block(others[3], blocked)
	foreign := w.Asked(others[0], others[1])

	list := graphtest.Got(w.Contacts.MyContacts(me.Ctx, contacts.ListInput{}))(t)
	require.Nil(t, list.NextBefore)
	require.Len(t, list.Contacts, 4)
	for i, want := range []struct {
		id     uuid.UUID
		state  string
		status string
		mine   bool
		other  *graphtest.Agent
	}{
		{blocked, "blocked", "blocked", false, others[3]},
		{friends, "accepted", "friends", true, others[2]},
		{incoming, "pending", "incoming", false, others[1]},
		{outgoing, "pending", "outgoing", true, others[0]},
	} {
		c := list.Contacts[i]
		require.Equal(t, want.id, c.ID)
		require.Equal(t, want.state, c.State)
		require.Equal(t, want.status, c.Friendship.Status)
		require.Equal(t, want.mine, c.RequestedByMe)
		require.Equal(t, want.other.ID, c.Bot.ID)
	}
	for before, code := range map[string]fault.Code{"1": fault.InvalidID, me.ID.String(): fault.NotFound, foreign.String(): fault.NotFound} {
		graphtest.Refused(t, code)(w.Contacts.MyContacts(me.Ctx, contacts.ListInput{Before: page.Param{before}}))
	}
}

// Pages have no gap or overlap, even if many contacts have the same time.
func TestContactsPages(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	me := w.Agent()
	w.Exec(`
WITH made AS (
  INSERT INTO bots (id, created_at, updated_at, handle, display_name, encryption_public_key, last_active_at)
  SELECT gen_random_uuid(), stoa_now(), stoa_now(), 'made_' || n, 'Made', decode(repeat('09', 32), 'hex'), stoa_now()
  FROM generate_series(1, 250) n RETURNING id, substr(handle, 6)::int AS n
)
INSERT INTO contacts (id, created_at, updated_at, requester_id, recipient_id, low_id, high_id)
SELECT gen_random_uuid(), at, at, CASE WHEN mine THEN $1 ELSE id END, CASE WHEN mine THEN id ELSE $1 END, least(id, $1), greatest(id, $1)
FROM (SELECT id, n % 3 = 0 AS mine, stoa_now() - make_interval(secs => n / 40) AS at FROM made) m`, me.ID)
	var ids []uuid.UUID
	input := contacts.ListInput{}
	for _, size := range []int{100, 100, 50} {
		list := graphtest.Got(w.Contacts.MyContacts(me.Ctx, input))(t)
		require.Len(t, list.Contacts, size)
		for _, c := range list.Contacts {
			ids = append(ids, c.ID)
			require.NotNil(t, c.Bot)
		}
		if size < page.CursorSize {
			require.Nil(t, list.NextBefore)
			break
		}
		require.Equal(t, ids[len(ids)-1], *list.NextBefore)
		input.Before = page.Param{list.NextBefore.String()}
	}
	require.Equal(t, graphtest.Column[uuid.UUID](w, "SELECT id FROM contacts ORDER BY created_at DESC, id DESC"), ids)

	list := graphtest.Got(w.Contacts.MyContacts(me.Ctx, contacts.ListInput{Before: page.Param{ids[len(ids)-1].String()}}))(t)
	require.Empty(t, list.Contacts)
	require.Nil(t, list.NextBefore)
}

// outboxEvent is one event of an agent's outbox.
type outboxEvent struct {
	Kind    events.Kind           `json:"kind"`
	Payload events.ContactPayload `json:"payload"`
}

// outbox returns the events of an agent, oldest first.
func outbox(t testing.TB, w *graphtest.World, agent *graphtest.Agent) []outboxEvent {
	t.Helper()
	all := []outboxEvent{}
	for _, event := range graphtest.Column[[]byte](w, `SELECT jsonb_build_object('kind', kind,
		'payload', convert_from(payload, 'UTF8')::jsonb) FROM events WHERE recipient_id = $1 ORDER BY sequence`, agent.ID) {
		var one outboxEvent
		require.NoError(t, json.Unmarshal(event, &one))
		all = append(all, one)
	}
	return all
}

// ask requests friendship with an agent.
func ask(w *graphtest.World, from *graphtest.Agent, to uuid.UUID) (*contacts.ContactResult, error) {
	return w.Contacts.RequestContact(from.Ctx, contacts.RequestInput{RecipientID: graphtest.Ptr(to.String())})
}

// act calls AcceptContact or BlockContact.
type act func(context.Context, contacts.ActInput) (*contacts.ContactResult, error)

func on(id uuid.UUID) contacts.ActInput { return contacts.ActInput{ContactID: id.String()} }
