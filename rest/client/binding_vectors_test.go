package client_test

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// bindingVectors is testdata/binding.json, which the suites of both clients and PyNaCl read.
type bindingVectors struct {
	Messages []messageVector `json:"messages"`
	Openings []openingVector `json:"openings"`
}

// messageVector is a message that a server may show, and the finding by its nonce.
type messageVector struct {
	Name             string `json:"name"`
	SenderPrivate    string `json:"sender_private_key"`
	RecipientPrivate string `json:"recipient_private_key"`
	// Fresh are the first 8 bytes of a bound nonce in base64, from which the sender's client makes the rest.
	Fresh    string          `json:"fresh"`
	Text     string          `json:"text"`
	SenderID string          `json:"sender_id"`
	Envelope client.Envelope `json:"envelope"`
	// Finding is bound, unbound, reflected or altered.
	Finding string `json:"finding"`
	// SealedAt is in Unix seconds; it is meaningful only for a bound message.
	SealedAt int64 `json:"sealed_at"`
}

func (v messageVector) message() client.Message {
	return client.Message{SenderID: v.SenderID, Envelope: v.Envelope}
}

// openingVector is a message that is opened after the earlier ones.
type openingVector struct {
	Name      string `json:"name"`
	PeerKey   string `json:"peer_public_key"`
	Nonce     string `json:"nonce"`
	MessageID string `json:"message_id"`
	// EventID is empty for a message that is read in a list.
	EventID string `json:"event_id"`
	// Finding is opened or replayed.
	Finding string `json:"finding"`
	// Line is appended to the memory; empty if nothing is.
	Line string `json:"line"`
}

// findingOf returns the finding for a message.
func findingOf(t require.TestingT, m client.Message) string {
	bound, err := m.Bound()
	if err != nil {
		return client.Refusal(err)
	}
	require.NoError(t, err)
	if bound {
		return "bound"
	}
	return "unbound"
}

func TestVectorsOfBinding(t *testing.T) {
	t.Parallel()
	compare(t, "testdata/binding.json", bindingVectors{messageVectors(t), openingVectors(t)})
}

func messageVectors(t *testing.T) []messageVector {
	t.Helper()
	const alice, bob, carol = "0192f0c1-2222-7000-8000-000000000001", "0192f0c1-2222-7000-8000-000000000002", "0192f0c1-2222-7000-8000-000000000003"
	const other = "0192f0c1-3333-4000-8000-000000000001"
	fresh := [8]byte{0x67, 0x45, 0x23, 0x01, 1, 2, 3, 4}
	sealed := func(name, recipientPrivate string, bind bool) messageVector {
		v := messageVector{
			Name: name, SenderPrivate: privateKey(1), RecipientPrivate: recipientPrivate, Fresh: base64.StdEncoding.EncodeToString(fresh[:]),
			Text: "Are you free, ada?", SenderID: alice, Finding: "unbound", SealedAt: 0x67452301,
		}
		sender := must(client.ParseKeys(v.SenderPrivate))(t)
		recipient := must(client.ParseKeys(recipientPrivate))(t)
		v.Envelope = client.Envelope{
			RecipientID: bob, ClientMessageID: "0192f0c1-3333-4000-8000-000000000000", SenderKey: sender.Public(), RecipientKey: recipient.Public(),
		}
		nonce := [24]byte{0x67, 0x45, 0x23, 0x01}
		if bind {
			v.Finding = "bound"
			nonce = must(v.Envelope.BindNonce(alice, fresh))(t)
		}
		v.Envelope = must(sender.SealWith(bob, recipient.Public(), v.Text, v.Envelope.ClientMessageID, nonce))(t)
		return v
	}
	mirror := func(v *messageVector) {
		v.SenderID, v.Envelope.RecipientID = v.Envelope.RecipientID, v.SenderID
		v.Envelope.SenderKey, v.Envelope.RecipientKey = v.Envelope.RecipientKey, v.Envelope.SenderKey
	}
	made := []messageVector{sealed("as it was sent", privateKey(101), true), sealed("a client that binds nothing", privateKey(101), false)}
	for _, lie := range []struct {
		name, finding string
		oneKey        bool
		change        func(*messageVector)
	}{
		{"ids in upper case are the same ids", "bound", false, func(v *messageVector) {
			v.SenderID = strings.ToUpper(v.SenderID)
			v.Envelope.ClientMessageID = strings.ToUpper(v.Envelope.ClientMessageID)
		}},
		{"shown as the other side's", "reflected", false, mirror},
		{"shown as the other side's under another id", "reflected", false, func(v *messageVector) {
			mirror(v)
			v.Envelope.ClientMessageID = other
		}},
		{"under another id", "altered", false, func(v *messageVector) { v.Envelope.ClientMessageID = other }},
		{"under what is no id", "altered", false, func(v *messageVector) { v.Envelope.ClientMessageID = "{" + other + "}" }},
		{"to another agent with the same key", "altered", false, func(v *messageVector) { v.Envelope.RecipientID = carol }},
		{"from another agent with the same key", "altered", false, func(v *messageVector) { v.SenderID = carol }},
		{"both agents have one key", "bound", true, func(*messageVector) {}},
		{"both have one key, shown as the other side's", "reflected", true, mirror},
		{"both have one key, under another id", "altered", true, func(v *messageVector) { v.Envelope.ClientMessageID = other }},
	} {
		v := sealed(lie.name, privateKey(101), true)
		if lie.oneKey {
			v = sealed(lie.name, privateKey(1), true)
		}
		v.Finding = lie.finding
		lie.change(&v)
		made = append(made, v)
	}
	for _, v := range made {
		require.Equal(t, v.Finding, findingOf(t, v.message()), v.Name)
		require.Equal(t, v.SealedAt, v.Envelope.SealedAt().Unix())
		if v.Finding == "bound" {
			nonce := must(v.Envelope.BindNonce(v.SenderID, fresh))(t)
			require.Equal(t, v.Envelope.Nonce, base64.StdEncoding.EncodeToString(nonce[:]))
		}
		for _, private := range []string{v.SenderPrivate, v.RecipientPrivate} {
			text := must(must(client.ParseKeys(private))(t).Open(v.Envelope))(t)
			require.Equal(t, v.Text, text)
		}
	}
	return made
}

func openingVectors(t *testing.T) []openingVector {
	t.Helper()
	const first, second = "0192f0c1-4444-7000-8000-000000000001", "0192f0c1-4444-7000-8000-000000000002"
	const event, again = "0192f0c1-5555-7000-8000-000000000001", "0192f0c1-5555-7000-8000-000000000002"
	public := func(first byte) string {
		return must(client.ParseKeys(privateKey(first)))(t).Public()
	}
	nonce := base64.StdEncoding.EncodeToString(make([]byte, 24))
	made := []openingVector{
		{Name: "read in a list", PeerKey: public(1), Nonce: nonce, MessageID: first, Finding: "opened"},
		{Name: "read once more", PeerKey: public(1), Nonce: nonce, MessageID: first, Finding: "opened"},
		{Name: "its event", PeerKey: public(1), Nonce: nonce, MessageID: first, EventID: event, Finding: "opened"},
		{Name: "its event once more, in upper case", PeerKey: public(1), Nonce: nonce, MessageID: strings.ToUpper(first),
			EventID: strings.ToUpper(event), Finding: "opened"},
		{Name: "another event", PeerKey: public(1), Nonce: nonce, MessageID: first, EventID: again, Finding: "replayed"},
		{Name: "another message in a list", PeerKey: public(1), Nonce: nonce, MessageID: second, Finding: "replayed"},
		{Name: "another message by the same event", PeerKey: public(1), Nonce: nonce, MessageID: second, EventID: event, Finding: "replayed"},
		{Name: "another friend's client with the same nonce", PeerKey: public(101), Nonce: nonce, MessageID: second, EventID: again,
			Finding: "opened"},
		{Name: "in a list after its event", PeerKey: public(101), Nonce: nonce, MessageID: second, Finding: "opened"},
	}
	folder := filepath.Join(t.TempDir(), "nonces")
	var written string
	for i := range made {
		v := &made[i]
		memory, err := client.OpenNonces(folder) // each time as after a restart
		require.NoError(t, err)
		err = memory.Claim(v.PeerKey, v.Nonce, v.MessageID, v.EventID, time.Time{})
		if errors.Is(err, client.ErrReplayed) {
			require.Equal(t, "replayed", v.Finding, v.Name)
		} else {
			require.NoError(t, err, v.Name)
			require.Equal(t, "opened", v.Finding, v.Name)
		}
		before := written
		written = openings(t, folder)
		v.Line = strings.TrimSuffix(strings.TrimPrefix(written, before), "\n")
	}
	return made
}

// openings are the lines in a folder of nonces, in the order in which they count.
func openings(t require.TestingT, folder string) string {
	entries := must(os.ReadDir(folder))(t)
	var all strings.Builder
	for _, entry := range entries {
		all.Write(must(os.ReadFile(filepath.Join(folder, entry.Name())))(t))
	}
	return all.String()
}
