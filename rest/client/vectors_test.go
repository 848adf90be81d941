package client_test

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// update writes the vectors instead of comparing with them. Clients in other languages test against the files.
var update = flag.Bool("update", false, "write testdata anew")

// boxVector is a message with given keys, nonce and id, and the envelope that it must give.
type boxVector struct {
	Name             string          `json:"name"`
	SenderPrivate    string          `json:"sender_private_key"`
	RecipientPrivate string          `json:"recipient_private_key"`
	Fingerprint      string          `json:"recipient_fingerprint"`
	Text             string          `json:"text"`
	Envelope         client.Envelope `json:"envelope"`
	// MessageID is the id that the sender's keys derive for the text to this recipient.
	MessageID string `json:"derived_message_id"`
}

// idVector is a request without an operation id, and the id that it gets.
type idVector struct {
	Name   string          `json:"name"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
	ID     string          `json:"operation_id"`
}

func privateKey(first byte) string {
	var key [32]byte
	for i := range key {
		key[i] = first + byte(i)
	}
	return base64.StdEncoding.EncodeToString(key[:])
}

func TestVectorsOfBoxes(t *testing.T) {
	t.Parallel()
	made := []boxVector{
		{Name: "one character", Text: "a"},
		{Name: "several lines", Text: "first\nsecond\r\n\tthird"},
		{Name: "characters of one to four bytes", Text: "a é € 😀"},
		{Name: "combining and invisible characters", Text: "e\u0301 \u200b \u202e x"},
		{Name: "white space alone", Text: " \n"},
	}
	for i := range made {
		v := &made[i]
		v.SenderPrivate, v.RecipientPrivate = privateKey(byte(1+i)), privateKey(byte(101+i))
		sender := must(client.ParseKeys(v.SenderPrivate))(t)
		recipient := must(client.ParseKeys(v.RecipientPrivate))(t)
		v.Fingerprint = must(client.Fingerprint(recipient.Public()))(t)
		nonce := [24]byte{byte(i), 23: 7}
		const bob, id = "0192f0c1-2222-7000-8000-000000000002", "0192f0c1-3333-4000-8000-00000000000"
		v.Envelope = must(sender.SealWith(bob, recipient.Public(), v.Text, id+string(rune('0'+i)), nonce))(t)
		v.MessageID = sender.MessageID(bob, v.Text)
		require.NotEqual(t, v.MessageID, recipient.MessageID(bob, v.Text), "it is keyed")
		for _, keys := range []client.Keys{sender, recipient} {
			require.Equal(t, v.Text, must(keys.Open(v.Envelope))(t))
		}
	}
	compare(t, "testdata/boxes.json", made)
}

func TestVectorsOfDerivedIDs(t *testing.T) {
	t.Parallel()
	const order = "/api/v1/orders/0192f0c1-1111-7000-8000-000000000001"
	made := []idVector{
		{Name: "no members", Method: "POST", Path: order + "/accept", Body: json.RawMessage(`{}`)},
		{Name: "a version", Method: "POST", Path: order + "/complete", Body: json.RawMessage(`{"expected_version": 4}`)},
		{Name: "members in any order", Method: "POST", Path: order + "/deliver",
			Body: json.RawMessage(`{"result_text": "done", "expected_version": 3, "result_attachment_ids": []}`)},
		{Name: "signs of markup, quotes and controls", Method: "POST", Path: order + "/dispute",
			Body: json.RawMessage(`{"reason": "<b>&amp;\"\\/\n\t", "expected_version": 3}`)},
		{Name: "beyond ASCII", Method: "POST", Path: order + "/dispute",
			Body: json.RawMessage(`{"reason": "é € 😀", "expected_version": 3}`)},
		{Name: "separators of lines are escaped", Method: "POST", Path: order + "/dispute",
			Body: json.RawMessage("{\"reason\": \"a\u2028b\u2029c\", \"expected_version\": 3}")},
		{Name: "the largest number that is exact in every language", Method: "POST", Path: "/api/v1/orders",
			Body: json.RawMessage(`{"amount_minor": 9007199254740991, "title": "T"}`)},
	}
	for i := range made {
		id := must(client.DeriveID(made[i].Method, made[i].Path, made[i].Body))(t)
		made[i].ID = id
		require.Equal(t, "5", id[14:15], "a UUID of version 5")
		for j := range i {
			require.NotEqual(t, made[j].ID, id)
		}
	}
	compare(t, "testdata/ids.json", made)
}

func compare(t *testing.T, path string, made any) {
	t.Helper()
	text := must(json.MarshalIndent(made, "", "  "))(t)
	if *update {
		require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o600))
	}
	kept := must(os.ReadFile(path))(t)
	require.JSONEq(t, string(kept), string(text), "run go test ./rest/client -run Vectors -update if this is meant")
}
