package profiles_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/page"
	"stoa/graph/platform/wire"
	"stoa/graph/profiles"
)

// relations bring two strangers into each possible relation; me is the reader of the card.
var relations = map[string]func(w *world, me, other *graphtest.Agent){
	"none":             func(*world, *graphtest.Agent, *graphtest.Agent) {},
	"outgoing":         func(w *world, me, other *graphtest.Agent) { w.Asked(me, other) },
	"incoming":         func(w *world, me, other *graphtest.Agent) { w.Asked(other, me) },
	"friends":          func(w *world, me, other *graphtest.Agent) { w.Befriend(me, other) },
	"friends, asked":   func(w *world, me, other *graphtest.Agent) { w.Befriend(other, me) },
	"blocked by me":    func(w *world, me, other *graphtest.Agent) { w.Block(me, w.Befriend(me, other)) },
	"blocked by other": func(w *world, me, other *graphtest.Agent) { w.Block(other, w.Asked(me, other)) },
}

// conditions prevent either agent from taking on obligations while the other's profile is shown.
var conditions = map[string]func(w *world, me, other *graphtest.Agent){
	"both active": func(*world, *graphtest.Agent, *graphtest.Agent) {},
	"me trashed": func(w *world, me, _ *graphtest.Agent) {
		w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", me.ID)
	},
	"me restricted":    func(w *world, me, _ *graphtest.Agent) { w.restrict(me) },
	"other restricted": func(w *world, _, other *graphtest.Agent) { w.restrict(other) },
}

// restrict prevents an agent from taking on obligations, because its email is not verified.
func (w *world) restrict(agent *graphtest.Agent) {
	w.Exec("UPDATE settings SET email_requirement_activated_at = stoa_now() - interval '15 days'")
	w.Exec("UPDATE bots SET email_verified_at = CASE WHEN id = $1 THEN NULL ELSE stoa_now() END", agent.ID)
}

// attempts make the requests that a card can offer and report whether one was permitted and changed something.
var attempts = map[string]func(w *world, me, other *graphtest.Agent, f profiles.Friendship) bool{
	"request_friendship": func(w *world, me, other *graphtest.Agent, _ profiles.Friendship) bool {
		asked, err := w.Contacts.RequestContact(me.Ctx, contacts.RequestInput{RecipientID: ptr(other.ID.String())})
		return err == nil && !asked.Repeated
	},
	"accept_friendship": func(w *world, me, _ *graphtest.Agent, f profiles.Friendship) bool {
		if f.ContactID == nil {
			return false
		}
		done, err := w.Contacts.AcceptContact(me.Ctx, contacts.ActInput{ContactID: f.ContactID.String()})
		return err == nil && done.Contact.Friendship.Status != f.Status
	},
	"block": func(w *world, me, other *graphtest.Agent, f profiles.Friendship) bool {
		if f.ContactID == nil {
			done, err := w.Contacts.BlockBot(me.Ctx, contacts.BlockInput{BotID: ptr(other.ID.String())})
			return err == nil && !done.Repeated
		}
		done, err := w.Contacts.BlockContact(me.Ctx, contacts.ActInput{ContactID: f.ContactID.String()})
		return err == nil && done.Contact.Friendship.Status != f.Status
	},
	"send_message": func(w *world, me, other *graphtest.Agent, _ profiles.Friendship) bool {
		_, err := w.Messages.SendMessage(me.Ctx, graphtest.Envelope(me, other))
		return err == nil
	},
	"create_order": func(w *world, me, other *graphtest.Agent, _ profiles.Friendship) bool {
		_, err := w.Orders.CreateOrder(me.Ctx, orders.CreateInput{
			OperationID: ptr(uuid.NewString()), Title: ptr("t"), Description: ptr("d"), AmountMinor: graphtest.Ptr[int64](100),
			Deadline: ptr(w.Now().Add(time.Hour).Format(time.RFC3339)), ContractorID: ptr(other.ID.String()),
			ConfirmedTotalMinor: graphtest.Ptr[int64](110),
		})
		return err == nil
	},
}

// Every request that a card lists is permitted then; any other is refused or changes nothing.
func TestCardsOfferPermittedActions(t *testing.T) {
	t.Parallel()
	for condition, apply := range conditions {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for relation, relate := range relations {
				offered := map[string]bool{}
				for name, attempt := range attempts {
					w.Exec("UPDATE settings SET email_requirement_activated_at = NULL")
					me, other := w.Agent(), w.Agent()
					relate(w, me, other)
					apply(w, me, other)
					card := w.card(me, other)
					listed := false
					for _, action := range card.Actions {
						listed = listed || action.Name == name
						offered[action.Name] = true
						require.Contains(t, attempts, action.Name)
					}
					require.Equal(t, listed, attempt(w, me, other, card.Friendship), "%s while %s", name, relation)
				}
				if relation == "friends" && condition == "both active" {
					require.Equal(t, map[string]bool{"block": true, "send_message": true, "create_order": true}, offered)
				}
			}
		})
	}
}

func TestActionsAreTemplates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	me, other := w.Agent(), w.Agent()
	id := other.ID
	require.Equal(t, []wire.Action{
		{Name: "request_friendship", Method: "POST", Path: "/api/v1/contacts/requests", Body: map[string]any{"recipient_id": id}},
		{Name: "block", Method: "POST", Path: "/api/v1/contacts/blocks", Body: map[string]any{"bot_id": id}},
	}, w.card(me, other).Actions)
	contactID := w.Asked(other, me)
	card := w.card(me, other)
	require.Equal(t, "incoming", card.Friendship.Status)
	require.Equal(t, contactID, *card.Friendship.ContactID)
	contact := "/api/v1/contacts/" + contactID.String()
	require.Equal(t, []wire.Action{
		{Name: "accept_friendship", Method: "POST", Path: contact + "/accept", Body: map[string]any{}},
		{Name: "block", Method: "POST", Path: contact + "/block", Body: map[string]any{}},
	}, card.Actions)
	graphtest.OK(t)(w.Contacts.AcceptContact(me.Ctx, contacts.ActInput{ContactID: contactID.String()}))
	require.Equal(t, []wire.Action{
		{Name: "block", Method: "POST", Path: contact + "/block", Body: map[string]any{}},
		{Name: "send_message", Method: "POST", Path: "/api/v1/messages", Body: map[string]any{
			"recipient_id": id, "client_message_id": nil, "nonce": nil, "ciphertext": nil, "encryption_version": "box-v1",
			"sender_public_key": me.Key.PublicKey().Bytes(), "recipient_public_key": other.Key.PublicKey().Bytes(),
		}},
		{Name: "create_order", Method: "POST", Path: "/api/v1/orders", Body: map[string]any{
			"operation_id": nil, "title": nil, "description": nil, "deadline": nil, "amount_minor": nil, "contractor_id": id,
			"confirmed_total_minor": nil,
		}},
	}, w.card(me, other).Actions)

	list := graphtest.Got(w.Profiles.SearchBots(me.Ctx, profiles.SearchInput{}))(t)
	for _, found := range list.Bots {
		if found.ID == id {
			require.Equal(t, w.card(me, other), found, "a search shows the same card")
		}
	}
}

var ptr = graphtest.Ptr[string]

// world adds helpers for the tests of profiles to a graphtest.World.
type world struct {
	*graphtest.World
	t testing.TB
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{graphtest.New(t), t}
}

// describe sets an agent's description of itself.
func (w *world) describe(agent *graphtest.Agent, name, specialty, bio string) {
	graphtest.OK(w.t)(w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{DisplayName: &name, Specialty: &specialty, Bio: &bio}))
}

// named registers an agent with a display name.
func (w *world) named(name string) *graphtest.Agent {
	agent := w.Agent()
	w.describe(agent, name, "", "")
	return agent
}

// search returns the display names of a page.
func (w *world) search(by *graphtest.Agent, q, specialty string, paging ...string) []string {
	in := profiles.SearchInput{Q: page.Param{q}, Specialty: page.Param{specialty}}
	if len(paging) == 2 {
		in.Page, in.PageSize = page.Param{paging[0]}, page.Param{paging[1]}
	}
	list := graphtest.Got(w.Profiles.SearchBots(by.Ctx, in))(w.t)
	require.NotNil(w.t, list.Bots)
	names := []string{}
	for _, b := range list.Bots {
		names = append(names, b.DisplayName)
	}
	return names
}

// card returns the card of an agent as another sees it.
func (w *world) card(by, of *graphtest.Agent) *profiles.Card {
	return graphtest.Got(w.Profiles.BotCard(by.Ctx, profiles.BotInput{BotID: of.ID.String()}))(w.t).Bot
}
