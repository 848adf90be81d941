package rest_test

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

const messagesPath = "/api/v1/messages"

// envelope is a fresh envelope as a JSON object.
func envelope(from, to *graphtest.Agent) map[string]any {
	in := graphtest.Envelope(from, to)
	return map[string]any{
		"recipient_id": *in.RecipientID, "client_message_id": *in.ClientMessageID, "nonce": *in.Nonce, "ciphertext": *in.Ciphertext,
		"encryption_version": *in.EncryptionVersion, "sender_public_key": *in.SenderPublicKey, "recipient_public_key": *in.RecipientPublicKey,
	}
}

// altered is a copy of an object with one member replaced, or removed where the value is absent.
func altered(object map[string]any, name string, value any) map[string]any {
	copied := maps.Clone(object)
	copied[name] = value
	if value == absent {
		delete(copied, name)
	}
	return copied
}

var absent = new(int)

func TestMessageIsSentAndRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, other := s.Agent(), s.Agent()
	contactID := s.Befriend(one, other)
	sent := envelope(one, other)
	made := s.send("POST", messagesPath, one.Token, sent).ok(http.StatusCreated)["message"].(map[string]any)
	record := maps.Clone(made)
	for _, own := range []string{"id", "created_at", "expires_at"} {
		require.Contains(t, record, own)
		delete(record, own)
	}
	want := maps.Clone(sent)
	want["contact_id"], want["sender_id"], want["size_bytes"] = contactID.String(), one.ID.String(), 64.0
	require.Equal(t, want, record)
	created, err := time.Parse(time.RFC3339, made["created_at"].(string))
	require.NoError(t, err)
	require.Equal(t, created.Add(90*24*time.Hour).Format("2006-01-02T15:04:05.000000Z"), made["expires_at"])

	require.Equal(t, made, s.send("POST", messagesPath, one.Token, sent).ok(http.StatusOK)["message"])
	spelt := altered(altered(sent, "recipient_id", strings.ToUpper(other.ID.String())), "client_message_id", strings.ToUpper(sent["client_message_id"].(string)))
	require.Equal(t, made, s.send("POST", messagesPath, one.Token, spelt).ok(http.StatusOK)["message"])
	s.send("POST", messagesPath, one.Token, altered(sent, "ciphertext", graphtest.RandomBase64(16))).fault(http.StatusConflict, fault.IdempotencyConflict)
	for agent, peer := range map[*graphtest.Agent]*graphtest.Agent{one: other, other: one} {
		list := s.send("GET", messagesPath+"?peer="+peer.ID.String(), agent.Token, nil).ok(http.StatusOK)
		require.Equal(t, map[string]any{"messages": []any{made}, "next_before": nil}, list)
	}

	s.Block(other, contactID)
	require.Equal(t, made, s.send("POST", messagesPath, one.Token, sent).ok(http.StatusOK)["message"])
	s.send("POST", messagesPath, one.Token, envelope(one, other)).fault(http.StatusForbidden, fault.ContactNotAccepted)
	s.send("GET", messagesPath+"?peer="+other.ID.String(), one.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.Shift(messages.Retention)
	s.send("POST", messagesPath, s.tokenOf(one), sent).fault(http.StatusConflict, fault.MessageExpired)
}

// tokenOf makes a live token for an agent whose first one the clock has left behind.
func (s *site) tokenOf(agent *graphtest.Agent) string {
	s.Exec("UPDATE tokens SET expires_at = stoa_now() + interval '1 day' WHERE bot_id = $1", agent.ID)
	return agent.Token
}

func TestLargestMessage(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	one, other := s.Friends()
	largest := altered(envelope(one, other), "ciphertext", graphtest.RandomBase64(16384))
	made := s.send("POST", messagesPath, one.Token, largest).ok(http.StatusCreated)["message"].(map[string]any)
	require.Equal(t, largest["ciphertext"], made["ciphertext"])
	require.EqualValues(t, 16384, made["size_bytes"])
	s.send("POST", messagesPath, one.Token, altered(envelope(one, other), "ciphertext", graphtest.RandomBase64(16385))).fault(http.StatusBadRequest, fault.InvalidEnvelope)
}

func TestEnvelopesAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, other, third := s.Agent(), s.Agent(), s.Agent()
	s.Befriend(one, other)
	s.Asked(one, third)
	used := envelope(one, other)
	s.send("POST", messagesPath, one.Token, used).ok(http.StatusCreated)
	s.send("POST", messagesPath, one.Token, "{}").fault(http.StatusBadRequest, fault.InvalidEnvelope)
	for _, test := range []struct {
		name   string
		value  any
		status int
		code   fault.Code
	}{
		{"recipient_id", absent, http.StatusBadRequest, fault.InvalidEnvelope},
		{"client_message_id", nil, http.StatusBadRequest, fault.InvalidEnvelope},
		{"nonce", absent, http.StatusBadRequest, fault.EncryptedEnvelopeRequired},
		{"sender_public_key", absent, http.StatusBadRequest, fault.EncryptedEnvelopeRequired},
		{"text", "hello", http.StatusBadRequest, fault.EncryptedEnvelopeRequired},
		{"plaintext", "hello", http.StatusBadRequest, fault.EncryptedEnvelopeRequired},
		{"subject", "hello", http.StatusBadRequest, fault.InvalidEnvelope},
		{"recipient_public_key", third.PublicKey(), http.StatusConflict, fault.KeyChanged},
	} {
		s.send("POST", messagesPath, one.Token, altered(envelope(one, other), test.name, test.value)).fault(test.status, test.code)
	}
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", one.ID)
	s.send("POST", messagesPath, one.Token, envelope(one, other)).fault(http.StatusConflict, fault.InactiveBot)
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM messages"))
}

func TestNewMessagesAreLimited(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{MessagesPerMinute: 2, MutationsPerMinute: 100}))
	one, other := s.Friends()
	first := envelope(one, other)
	for i, body := range []map[string]any{first, envelope(one, other)} {
		made := s.send("POST", messagesPath, one.Token, body)
		made.ok(http.StatusCreated)
		require.Equal(t, `"mutations";q=100;w=60, "messages";q=2;w=60`, made.header.Get("RateLimit-Policy"))
		require.Contains(t, made.header.Get("RateLimit"), fmt.Sprintf(`"messages";r=%d;t=`, 1-i))
	}
	refused := s.send("POST", messagesPath, one.Token, envelope(one, other))
	refused.fault(http.StatusTooManyRequests, fault.RateLimited)
	require.Regexp(t, `^[1-9]\d*$`, refused.header.Get("Retry-After"))
	require.Contains(t, refused.header.Get("RateLimit"), `"messages";r=0;t=`)
	s.send("POST", messagesPath, one.Token, first).ok(http.StatusOK)
	s.send("POST", messagesPath, other.Token, envelope(other, one)).ok(http.StatusCreated)
}

func TestDialogCursor(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	one, other := s.Friends()
	third := s.Agent()
	s.Befriend(one, third)
	var ids []string
	for range 101 {
		ids = append(ids, s.Sent(one, other).ID.String())
	}
	dialog := messagesPath + "?peer=" + strings.ToUpper(other.ID.String())
	list := s.send("GET", dialog, one.Token, nil).ok(http.StatusOK)
	require.Len(t, list["messages"], 100)
	require.Equal(t, ids[100], list["messages"].([]any)[0].(map[string]any)["id"])
	require.Equal(t, ids[1], list["next_before"])
	rest := s.send("GET", dialog+"&before="+ids[1], one.Token, nil).ok(http.StatusOK)
	require.Len(t, rest["messages"], 1)
	require.Nil(t, rest["next_before"])

	foreign := s.Sent(third, one).ID.String()
	for query, code := range map[string]fault.Code{
		"":                  fault.InvalidID,
		"?peer=":            fault.InvalidID,
		"?peer=x":           fault.InvalidID,
		"?before=" + ids[0]: fault.InvalidID,
		"?peer=" + other.ID.String() + "&before=x":                 fault.InvalidID,
		"?peer=" + other.ID.String() + "&before=":                  fault.InvalidID,
		"?peer=" + other.ID.String() + "&before=" + foreign:        fault.NotFound,
		"?peer=" + uuid.NewString():                                fault.NotFound,
		"?peer=" + one.ID.String():                                 fault.NotFound,
		"?peer=" + other.ID.String() + "&peer=" + uuid.NewString(): fault.InvalidID,
	} {
		status := http.StatusBadRequest
		if code == fault.NotFound {
			status = http.StatusNotFound
		}
		s.send("GET", messagesPath+query, one.Token, nil).fault(status, code)
	}
	s.send("GET", dialog, third.Token, nil).fault(http.StatusNotFound, fault.NotFound)
}

// The sender is authenticated before the body is read: a client that waits for 100 Continue does not get it.
func TestSenderIsKnownBeforeTheBodyIsRead(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 1}))
	agent, suspended := s.Agent(), s.Agent()
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	s.send("POST", messagesPath, agent.Token, "{}").fault(http.StatusBadRequest, fault.InvalidEnvelope)
	for token, want := range map[string]int{
		"stoa_x": http.StatusUnauthorized, suspended.Token: http.StatusForbidden, agent.Token: http.StatusTooManyRequests,
	} {
		for _, body := range []string{"", `{"a": "b"}`} { // the second does not wait, but asks
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			require.NoError(t, err)
			_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: stoa\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
				"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n%s", messagesPath, token, body)
			require.NoError(t, err)
			first, err := bufio.NewReader(conn).ReadString('\n')
			require.NoError(t, err)
			require.Contains(t, first, strconv.Itoa(want))
			require.NoError(t, conn.Close())
		}
	}
}

// A body that comes with its header is judged after its sender is known and counted, as any other.
func TestOrderOfChecksOfABodyThatIsThere(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 3, MessagesPerMinute: 60}))
	one, other := s.Agent(), s.Agent()
	s.Befriend(one, other)
	suspended, revoked := s.Agent(), s.Agent()
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	s.Exec("UPDATE tokens SET revoked_at = stoa_now() WHERE bot_id = $1", revoked.ID)
	const kind = "Content-Type"
	for _, body := range []string{"{}", "{", ""} {
		s.send("POST", messagesPath, "", body, kind, "text/plain").fault(http.StatusUnauthorized, fault.Unauthorized)
		s.send("POST", messagesPath, revoked.Token, body, kind, "text/plain").fault(http.StatusUnauthorized, fault.Unauthorized)
		s.send("POST", messagesPath, suspended.Token, body, kind, "text/plain").fault(http.StatusForbidden, fault.Forbidden)
	}
	s.send("POST", messagesPath, one.Token, "{", kind, "text/plain").fault(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	s.send("POST", messagesPath, one.Token, "{").fault(http.StatusBadRequest, fault.InvalidEnvelope)
	left := s.send("POST", messagesPath, one.Token, envelope(one, other))
	left.ok(http.StatusCreated)
	require.Contains(t, left.header.Get("RateLimit"), `"mutations";r=0`)
	s.send("POST", messagesPath, one.Token, "{", kind, "text/plain").fault(http.StatusTooManyRequests, fault.WriteLimited)
	s.send("POST", messagesPath, one.Token, envelope(one, other)).fault(http.StatusTooManyRequests, fault.WriteLimited)
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM messages"))
}
