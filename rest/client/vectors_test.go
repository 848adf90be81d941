package client_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

func privateKey(first byte) string {
	var key [32]byte
	for i := range key {
		key[i] = first + byte(i)
	}
	return base64.StdEncoding.EncodeToString(key[:])
}

// boxVector is a message with given keys, nonce and id, and the envelope that it must give.
type boxVector struct {
	Name             string
	SenderPrivate    string `json:"sender_private_key"`
	RecipientPrivate string `json:"recipient_private_key"`
	Fingerprint      string `json:"recipient_fingerprint"`
	Text             string
	Envelope         client.Envelope
	// MessageID is the id that the sender's keys derive for the text to this recipient.
	MessageID string `json:"derived_message_id"`
}

// opened returns the keys of both sides, which must open the envelope.
func (v boxVector) opened(t *testing.T) (sender, recipient client.Keys) {
	t.Helper()
	sender, recipient = must(client.ParseKeys(v.SenderPrivate))(t), must(client.ParseKeys(v.RecipientPrivate))(t)
	for _, keys := range []client.Keys{sender, recipient} {
		require.Equal(t, v.Text, must(keys.Open(v.Envelope))(t), v.Name)
	}
	return sender, recipient
}

func TestVectorsOfBoxes(t *testing.T) {
	t.Parallel()
	var boxes []boxVector
	readJSON(t, "testdata/boxes.json", &boxes)
	require.Len(t, boxes, 5)
	for _, v := range boxes {
		sender, recipient := v.opened(t)
		require.Equal(t, v.Fingerprint, must(client.Fingerprint(recipient.Public()))(t))
		to, nonce := v.Envelope.RecipientID, [24]byte(must(base64.StdEncoding.DecodeString(v.Envelope.Nonce))(t))
		require.Equal(t, v.Envelope, must(sender.SealWith(to, recipient.Public(), v.Text, v.Envelope.ClientMessageID, nonce))(t))
		require.Equal(t, v.MessageID, sender.MessageID(to, v.Text))
		require.NotEqual(t, v.MessageID, recipient.MessageID(to, v.Text), "it is keyed")
	}
}

func TestVectorsOfDerivedIDs(t *testing.T) {
	t.Parallel()
	var requests []struct {
		Name, Method, Path string
		Body               json.RawMessage
		ID                 string `json:"operation_id"`
	}
	readJSON(t, "testdata/ids.json", &requests)
	require.Len(t, requests, 7)
	for _, v := range requests {
		require.Equal(t, v.ID, must(client.DeriveID(v.Method, v.Path, v.Body))(t), v.Name)
	}
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

// Messages as a server may show them, and messages that are opened one after the other, each as after a restart.
func TestVectorsOfBinding(t *testing.T) {
	t.Parallel()
	var vectors struct {
		Messages []struct {
			boxVector

			Fresh    []byte // the first 8 bytes of a bound nonce, from which the sender's client makes the rest
			SenderID string `json:"sender_id"`
			Finding  string // bound, unbound, reflected or altered
			SealedAt int64  `json:"sealed_at"` // in Unix seconds; meaningful only for a bound message
		}
		Openings []struct {
			Name      string
			PeerKey   string `json:"peer_public_key"`
			Nonce     string
			MessageID string `json:"message_id"`
			EventID   string `json:"event_id"` // empty for a message that is read in a list
			Finding   string // opened or replayed
			Line      string // what is appended to the memory; empty if nothing is
		}
	}
	readJSON(t, "testdata/binding.json", &vectors)
	require.Len(t, vectors.Messages, 12)
	for _, v := range vectors.Messages {
		require.Equal(t, v.Finding, findingOf(t, client.Message{SenderID: v.SenderID, Envelope: v.Envelope}), v.Name)
		require.Equal(t, v.SealedAt, v.Envelope.SealedAt().Unix())
		if v.Finding == "bound" {
			nonce := must(v.Envelope.BindNonce(v.SenderID, [8]byte(v.Fresh)))(t)
			require.Equal(t, v.Envelope.Nonce, base64.StdEncoding.EncodeToString(nonce[:]))
		}
		v.opened(t)
	}
	require.Len(t, vectors.Openings, 9)
	folder, written := filepath.Join(t.TempDir(), "nonces"), ""
	for _, v := range vectors.Openings {
		err := openNonces(t, folder).Claim(v.PeerKey, v.Nonce, v.MessageID, v.EventID, time.Time{})
		if v.Finding == "replayed" {
			require.ErrorIs(t, err, client.ErrReplayed, v.Name)
		} else {
			require.NoError(t, err, v.Name)
		}
		before := written
		written = openings(t, folder)
		require.Equal(t, v.Line, strings.TrimSuffix(strings.TrimPrefix(written, before), "\n"), v.Name)
	}
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
