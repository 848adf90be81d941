package client_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/rest/client"
)

func drawID() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")).String()
	})
}

// anyKeys draws keys from a few, so that both sides sometimes have the same.
func anyKeys(t *rapid.T, label string) client.Keys {
	return must(client.ParseKeys(privateKey(byte(1 + rapid.IntRange(0, 3).Draw(t, label)))))(t)
}

// Every sealed message is bound to its parties and id, and every change of these is detected.
func TestEveryLieAboutAMessageIsNamed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sender, recipient, eve := anyKeys(t, "sender"), anyKeys(t, "recipient"), anyKeys(t, "eve")
		ids := rapid.SliceOfNDistinct(drawID(), 4, 4, rapid.ID).Draw(t, "ids")
		text := rapid.StringN(1, 100, -1).Draw(t, "text")
		sealed := must(sender.Seal(ids[0], ids[1], recipient.Public(), text, ids[2]))(t)
		sent := client.Message{SenderID: ids[0], Envelope: sealed}
		require.Equal(t, "bound", findingOf(t, sent))
		require.WithinDuration(t, time.Now(), sealed.SealedAt(), time.Minute)
		for _, keys := range []client.Keys{sender, recipient} {
			require.Equal(t, text, must(keys.Open(sealed))(t))
		}

		lie := sent
		switch finding := rapid.SampledFrom([]string{"mirror", "sender", "recipient", "id", "key", "nonce", "ciphertext"}).Draw(t, "lie"); finding {
		case "mirror":
			lie.SenderID, lie.RecipientID, lie.SenderKey, lie.RecipientKey = lie.RecipientID, lie.SenderID, lie.RecipientKey, lie.SenderKey
			require.Equal(t, "reflected", findingOf(t, lie))
		case "sender":
			lie.SenderID = ids[3]
			require.Equal(t, "altered", findingOf(t, lie))
		case "recipient":
			lie.RecipientID = ids[3]
			require.Equal(t, "altered", findingOf(t, lie))
		case "id":
			lie.ClientMessageID = ids[3]
			require.Equal(t, "altered", findingOf(t, lie))
		case "key":
			lie.SenderKey = eve.Public()
			if eve.Public() != sender.Public() && eve.Public() != recipient.Public() {
				require.Equal(t, "unbound", findingOf(t, lie))
				require.ErrorIs(t, errOf(recipient.Open(lie.Envelope)), client.ErrSealed)
				require.ErrorIs(t, errOf(eve.Open(sealed)), client.ErrSealed)
			}
		case "nonce":
			raw, at := flipped(t, lie.Nonce)
			lie.Nonce = raw
			want := "unbound"
			if at >= 14 { // the part that is bound to the ids
				want = "altered"
			}
			require.Equal(t, want, findingOf(t, lie))
			require.ErrorIs(t, errOf(recipient.Open(lie.Envelope)), client.ErrSealed)
		case "ciphertext":
			lie.Ciphertext, _ = flipped(t, lie.Ciphertext)
			require.ErrorIs(t, errOf(recipient.Open(lie.Envelope)), client.ErrSealed)
		}
	})
}

// flipped changes one byte of a text in base64, and returns its place.
func flipped(t *rapid.T, text string) (string, int) {
	raw := must(base64.StdEncoding.DecodeString(text))(t)
	at := rapid.IntRange(0, len(raw)-1).Draw(t, "byte")
	raw[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
	return base64.StdEncoding.EncodeToString(raw), at
}

func FuzzBound(f *testing.F) {
	sender := must(client.ParseKeys(privateKey(1)))(f)
	recipient := must(client.ParseKeys(privateKey(101)))(f)
	sealed := must(sender.Seal(uuid.NewString(), uuid.NewString(), recipient.Public(), "x", uuid.NewString()))(f)
	f.Add(sealed.Nonce, uuid.NewString(), sealed.RecipientID, sealed.ClientMessageID, sealed.SenderKey, sealed.RecipientKey)
	f.Add("", "", "", "", "", "")
	f.Fuzz(func(t *testing.T, nonce, from, to, id, senderKey, recipientKey string) {
		m := client.Message{SenderID: from, Envelope: client.Envelope{
			RecipientID: to, ClientMessageID: id, Nonce: nonce, SenderKey: senderKey, RecipientKey: recipientKey,
		}}
		bound, err := m.Bound()
		require.False(t, bound && err != nil)
		if err != nil && client.Refusal(err) == "" {
			require.ErrorIs(t, err, client.ErrSealed)
		}
		_ = m.SealedAt() // it does not panic
	})
}

// correspondents are two agents with key files, unknown to any server. ada has pinned ben.
type correspondents struct {
	t        *testing.T
	ada, ben *client.Agent
	file     string // ada's
}

func newCorrespondents(t *testing.T) *correspondents {
	t.Helper()
	open := func(name string) (*client.Agent, string) {
		keys := must(client.NewKeys())(t)
		file := filepath.Join(t.TempDir(), name+".key")
		identity := client.Identity{Origin: "http://127.0.0.1:1", Handle: name, ID: uuid.NewString(), Token: "x", PrivateKey: keys.Private()}
		require.NoError(t, identity.Save(file))
		return openAgent(t, file, ""), file
	}
	c := &correspondents{t: t}
	c.ada, c.file = open("ada")
	c.ben, _ = open("ben")
	key := c.ben.Keys.Public()
	require.NoError(t, c.ada.Trust.Check(client.Brief{ID: c.ben.Identity().ID, Handle: "ben", Key: &key})) // no log is asked then
	return c
}

// sealed returns a message from ben to ada with a nonce bound at that time, or a random nonce for the zero time.
func (c *correspondents) sealed(at time.Time) client.Message {
	c.t.Helper()
	ada, ben, id := c.ada.Identity().ID, c.ben.Identity().ID, uuid.NewString()
	sealed := must(c.ben.Keys.Seal(ben, ada, c.ada.Keys.Public(), "hello", id))(c.t)
	nonce := [24]byte{5: 1}
	if !at.IsZero() {
		random := uuid.New()
		fresh := [8]byte(random[:8])
		binary.BigEndian.PutUint32(fresh[:], uint32(at.Unix()))
		nonce = must(sealed.BindNonce(ben, fresh))(c.t)
	}
	sealed = must(c.ben.Keys.SealWith(ada, c.ada.Keys.Public(), "hello", id, nonce))(c.t)
	return client.Message{ID: uuid.NewString(), SenderID: ben, Envelope: sealed}
}

// arrives returns the event that brings a message.
func arrives(t *testing.T, m client.Message) client.Event {
	t.Helper()
	payload := must(json.Marshal(map[string]any{"message_id": m.ID, "sender_id": m.SenderID, "message": m}))(t)
	return client.Event{ID: uuid.NewString(), Kind: client.MessageCreated, Payload: payload}
}

// A message can be opened any number of times, but never as two messages, in any order of events and lists, and in any program.
func TestAMessageIsNotOpenedAsTwo(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Time{"bound": time.Now(), "unbound": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCorrespondents(t)
			m := c.sealed(at)
			event := arrives(t, m)
			for range 2 {
				ok(t)(c.ada.Open(t.Context(), m, ""))
				opened, brought, err := c.ada.Text(t.Context(), event)
				require.NoError(t, err)
				require.True(t, brought)
				require.Equal(t, "hello", opened.Text)
				require.Equal(t, name == "bound", opened.Bound)
				require.Equal(t, name == "bound", !opened.SealedAt.IsZero())
				c.ada = openAgent(t, c.file, "") // the program starts anew
			}
			renamed := m
			renamed.ID = uuid.NewString()
			for _, program := range []*client.Agent{c.ada, openAgent(t, c.file, "")} {
				for what, event := range map[string]client.Event{"event": arrives(t, m), "id": arrives(t, renamed)} {
					_, _, err := program.Text(t.Context(), event)
					require.ErrorIs(t, err, client.ErrReplayed, what)
				}
				opened, err := program.Open(t.Context(), renamed, "")
				require.ErrorIs(t, err, client.ErrReplayed)
				require.Empty(t, opened.Text)
			}
			_, _, err := c.ada.Text(t.Context(), event)
			require.NoError(t, err)
		})
	}
}

func TestOldAndUnboundMessages(t *testing.T) {
	t.Parallel()
	c := newCorrespondents(t)
	const day = 24 * time.Hour
	for _, row := range []struct {
		age     time.Duration
		refused string
	}{{91*day + time.Hour, "stale"}, {91*day - time.Hour, ""}, {-day, ""}, {5 * 365 * day, "stale"}} {
		opened, err := c.ada.Open(t.Context(), c.sealed(time.Now().Add(-row.age)), "")
		require.Equal(t, row.refused, client.Refusal(err), "%s: %v", row.age, err)
		require.Equal(t, row.refused == "", opened.Bound)
	}
	c.ada.RequireBound = true
	unbound := c.sealed(time.Time{})
	require.ErrorIs(t, errOf(c.ada.Open(t.Context(), unbound, "")), client.ErrUnbound)
	ok(t)(c.ada.Open(t.Context(), c.sealed(time.Now()), ""))
	c.ada.RequireBound = false // the refused message was not opened
	unbound.ID = uuid.NewString()
	ok(t)(c.ada.Open(t.Context(), unbound, ""))
}

// An event or a message without a valid id is refused.
func TestWhatHasNoIDIsRefused(t *testing.T) {
	t.Parallel()
	c := newCorrespondents(t)
	for i, bad := range []string{"", "x", "-", fmt.Sprintf("{%s}", uuid.NewString()), uuid.NewString() + "\n", "urn:uuid:" + uuid.NewString()} {
		m := c.sealed(time.Now())
		event := arrives(t, m)
		event.ID = bad
		_, _, err := c.ada.Text(t.Context(), event)
		require.ErrorIs(t, err, client.ErrAltered, i)
		m.ID = bad
		require.ErrorIs(t, errOf(c.ada.Open(t.Context(), m, "")), client.ErrAltered, i)
	}
	_, _, err := c.ada.Text(t.Context(), client.Event{ID: uuid.NewString(), Kind: client.MessageCreated, Payload: json.RawMessage(`{"message": 1}`)})
	require.ErrorIs(t, err, client.ErrAltered)
}
