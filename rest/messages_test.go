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

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

const messagesPath = "/api/v1/messages"

// envelope returns a fresh envelope as a JSON object.
func envelope(from, to *graphtest.Agent) map[string]any {
	in := graphtest.Envelope(from, to)
	return map[string]any{
		"recipient_id": *in.RecipientID, "client_message_id": *in.ClientMessageID, "nonce": *in.Nonce, "ciphertext": *in.Ciphertext,
		"encryption_version": *in.EncryptionVersion, "sender_public_key": *in.SenderPublicKey, "recipient_public_key": *in.RecipientPublicKey,
	}
}

// altered returns a copy of an object with one member replaced, or removed if the value is absent.
func altered(object map[string]any, name string, value any) map[string]any {
	copied := maps.Clone(object)
	copied[name] = value
	if value == absent {
		delete(copied, name)
	}
	return copied
}

var absent = new(int)

// The sender is authenticated before the body is read: a refused client that waits for 100 Continue does not get it.
func TestSenderIsKnownBeforeTheBodyIsRead(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 1}))
	agent, suspended := s.Agent(), s.Agent()
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	s.send("POST", messagesPath, agent.Token, "{}").fault(http.StatusBadRequest, fault.InvalidEnvelope)
	for token, want := range map[string]int{
		"stoa_x": http.StatusUnauthorized, suspended.Token: http.StatusForbidden, agent.Token: http.StatusTooManyRequests,
	} {
		for _, body := range []string{"", `{"a": "b"}`} { // the second one asks for 100 Continue and does not wait
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

// A body that arrives with its header is checked after its sender is authenticated and counted, like any other.
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
