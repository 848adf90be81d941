package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/slack"
	"stoa/rest"
)

const messagesPath = "/api/v1/messages"

// envelope returns a fresh envelope as a JSON object.
func envelope(from, to *graphtest.Agent) object {
	in := graphtest.Envelope(from, to)
	return object{
		"recipient_id": *in.RecipientID, "client_message_id": *in.ClientMessageID, "nonce": *in.Nonce, "ciphertext": *in.Ciphertext,
		"encryption_version": *in.EncryptionVersion, "sender_public_key": *in.SenderPublicKey, "recipient_public_key": *in.RecipientPublicKey,
	}
}

// raw sends a request unchanged and returns the answer, and whether the connection is closed after it.
func (s *site) raw(format string, args ...any) *answer {
	s.t.Helper()
	conn := graphtest.Got(net.Dial("tcp", strings.TrimPrefix(s.url, "http://")))(s.t)
	defer conn.Close()
	require.NoError(s.t, conn.SetDeadline(time.Now().Add(slack.TestWait)))
	graphtest.OK(s.t)(fmt.Fprintf(conn, format, args...))
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(s.t, err)
	defer response.Body.Close()
	raw := graphtest.Got(io.ReadAll(response.Body))(s.t)
	return newAnswer(s.t, response, raw)
}

// A body in an unknown coding is the sender's mistake; a body that does not arrive fails with request_timeout.
func TestBodiesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	timeouts := httpserver.DefaultTimeouts()
	timeouts.Body.Time = 100 * time.Millisecond
	s := serveWithin(t, shared.World(t), rest.Config{}, timeouts)
	agent := s.Agent()
	for route, code := range map[string]fault.Code{
		"PATCH /api/v1/bots/me": fault.InvalidInput, "POST /api/v1/posts": fault.InvalidField, "POST /api/v1/contacts/requests": fault.InvalidID,
		"POST /api/v1/messages": fault.InvalidEnvelope, "POST /api/v1/orders": fault.InvalidInput, "POST /api/v1/attachments": fault.InvalidFields,
	} {
		contentType := "application/json"
		if code == fault.InvalidFields {
			contentType = "multipart/form-data; boundary=b"
		}
		for sent, code := range map[string]fault.Code{
			"Transfer-Encoding: chunked\r\n\r\nzz\r\n": code, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}xx": code,
			"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n": code, "Content-Length: 100\r\n\r\n{": fault.RequestTimeout,
		} {
			s.raw("%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n%s", route, agent.Token, contentType, sent).fault(code)
		}
	}
}

// A body that the route does not read, or whose sender is refused, may be missing: it delays nothing.
func TestBodyThatIsNotRead(t *testing.T) {
	t.Parallel()
	timeouts := httpserver.DefaultTimeouts()
	timeouts.Body.Time = time.Hour
	s := serveWithin(t, shared.World(t), rest.Config{}, timeouts)
	agent, suspended := s.Agent(), s.Agent()
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	for request, status := range map[string]int{
		"GET /healthz HTTP/1.1\r\nContent-Length: 10":                                                                                     http.StatusOK,
		"GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked":                                                                             http.StatusOK,
		"GET /skill.md HTTP/1.1\r\nContent-Length: 10":                                                                                    http.StatusOK,
		"PATCH /api/v1/orders HTTP/1.1\r\nContent-Length: 10":                                                                             http.StatusMethodNotAllowed,
		"POST /nowhere HTTP/1.1\r\nContent-Length: 10":                                                                                    http.StatusNotFound,
		"POST /api/v1/orders HTTP/1.1\r\nContent-Length: 10":                                                                              http.StatusUnauthorized,
		"POST /api/v1/attachments HTTP/1.1\r\nContent-Length: 10":                                                                         http.StatusUnauthorized,
		"OPTIONS /api/v1/orders HTTP/1.1\r\nTransfer-Encoding: chunked":                                                                   http.StatusNoContent,
		"DELETE /api/v1/posts/x HTTP/1.1\r\nContent-Length: 10":                                                                           http.StatusUnauthorized,
		"POST /api/v1/messages HTTP/1.1\r\nContent-Length: 10\r\nExpect: 100-continue":                                                    http.StatusUnauthorized,
		"POST /api/v1/messages HTTP/1.1\r\nContent-Length: 10\r\nAuthorization: Bearer " + suspended.Token:                                http.StatusForbidden,
		"POST /api/v1/orders HTTP/1.1\r\nContent-Length: 10\r\nX-Long: " + strings.Repeat("x", 20<<10):                                    http.StatusRequestHeaderFieldsTooLarge,
		"GET /api/v1/wallet HTTP/1.1\r\nContent-Length: 10\r\nAuthorization: Bearer " + agent.Token:                                       http.StatusOK,
		"POST /api/v1/orders HTTP/1.1\r\nContent-Length: 10\r\nAuthorization: Bearer " + agent.Token:                                      http.StatusUnsupportedMediaType,
		"POST /api/v1/orders HTTP/1.1\r\nContent-Length: 70000\r\nContent-Type: application/json\r\nAuthorization: Bearer " + agent.Token: http.StatusRequestEntityTooLarge,
		"POST /api/v1/tokens/revoke HTTP/1.1\r\nContent-Length: 10\r\nAuthorization: Bearer " + s.Agent().Token:                           http.StatusOK,
	} {
		t.Run(request[:30], func(t *testing.T) {
			t.Parallel()
			a := s.raw("%s\r\nHost: x\r\n\r\n", request).is(status)
			require.True(t, a.closing)
		})
	}
	s.raw("GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", strings.Repeat("x", 17<<10)).fault(fault.HeaderFieldsTooLarge)
}
