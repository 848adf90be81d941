package socket_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/rest/socket"
)

func TestHandshakeIsRefusedWithACloseCode(t *testing.T) {
	t.Parallel()
	h := sharedCluster(t)
	p := h.process(func(c *socket.Config) {
		c.AllowedOrigins = []string{"https://console.example", "https://*.friends.example"}
		c.Origin = "https://Stoa.example:443"
	})
	agent, suspended, revoked := h.Agent(), h.Agent(), h.Agent()
	h.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	graphtest.OK(t)(h.Auth.RevokeToken(revoked.Ctx))
	expired := h.Agent()
	h.Exec("UPDATE tokens SET expires_at = stoa_now() WHERE bot_id = $1", expired.ID)
	deleted := h.Agent()
	h.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", deleted.ID)
	host := strings.TrimSuffix(strings.TrimPrefix(p.url, "ws://"), "/ws/v1/events/")
	port := host[strings.LastIndex(host, ":"):]
	const open = 0
	for name, c := range map[string]struct {
		token  string
		origin string
		host   string
		query  string
		header http.Header
		code   int
	}{
		"no token":            {header: http.Header{}, code: 4401},
		"not a token":         {token: "secret", code: 4401},
		"unknown token":       {token: "stoa_" + strings.Repeat("0", 49), code: 4401},
		"two tokens":          {header: http.Header{"Authorization": {"Bearer " + agent.Token, "Bearer " + agent.Token}}, code: 4401},
		"another scheme":      {header: http.Header{"Authorization": {"Basic " + agent.Token}}, code: 4401},
		"revoked token":       {token: revoked.Token, code: 4401},
		"expired token":       {token: expired.Token, code: 4401},
		"deleted agent":       {token: deleted.Token, code: 4401},
		"suspended agent":     {token: suspended.Token, code: 4403},
		"query":               {token: agent.Token, query: "?since=1", code: 4400},
		"empty query":         {token: agent.Token, query: "?", code: 4400},
		"token in the query":  {query: "?token=" + agent.Token, header: http.Header{}, code: 4400},
		"foreign origin":      {token: agent.Token, origin: "https://evil.example", code: 4403},
		"opaque origin":       {token: agent.Token, origin: "null", code: 4403},
		"like an allowed":     {token: agent.Token, origin: "https://console.example.evil", code: 4403},
		"allowed origin":      {token: agent.Token, origin: "https://console.example", code: open},
		"allowed by pattern":  {token: agent.Token, origin: "https://best.friends.example", code: open},
		"address of loopback": {token: agent.Token, origin: "http://" + host, code: open},
		"name of loopback":    {token: agent.Token, origin: "http://localhost" + port, code: open},
		"rebound name":        {token: agent.Token, origin: "http://evil.example" + port, host: "evil.example" + port, code: 4403},
		"origin of the base":  {token: agent.Token, origin: "https://stoa.example", code: open},
		"other port of base":  {token: agent.Token, origin: "https://stoa.example:8443", code: 4403},
		"base over http":      {token: agent.Token, origin: "http://stoa.example", code: 4403},
		"plain":               {token: agent.Token, code: open},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := c.header
			if header == nil {
				header = bearer(c.token)
			}
			if c.origin != "" {
				header.Set("Origin", c.origin)
			}
			if c.host != "" {
				header.Set("Host", c.host)
			}
			conn := p.dialWith(header, c.query)
			conn.t = t
			if c.code == open {
				conn.quiet()
				return
			}
			require.Equal(t, c.code, conn.code())
		})
	}
}

func TestPlainRequestsMustUpgrade(t *testing.T) {
	t.Parallel()
	h, p, agent := newCluster(t).withAgent()
	at := "http" + strings.TrimPrefix(p.url, "ws")
	upgrade := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
	with := func(name, value string) map[string]string {
		changed := map[string]string{name: value}
		for k, v := range upgrade {
			if k != name {
				changed[k] = v
			}
		}
		return changed
	}
	for name, c := range map[string]struct {
		method string
		url    string
		header map[string]string
		status int
		body   string
	}{
		"plain":                {"GET", at, nil, 426, `"code":"upgrade_required"`},
		"with a query":         {"GET", at + "?x=1", nil, 426, `"code":"upgrade_required"`},
		"another protocol":     {"GET", at, with("Upgrade", "h2c"), 426, `"code":"upgrade_required"`},
		"another version":      {"GET", at, with("Sec-WebSocket-Version", "8"), 426, `"code":"upgrade_required"`},
		"bad key":              {"GET", at, with("Sec-WebSocket-Key", "short"), 400, `"code":"invalid_input"`},
		"post":                 {"POST", at, upgrade, 405, `"code":"method_not_allowed"`},
		"no trailing slash":    {"GET", strings.TrimSuffix(at, "/"), upgrade, 404, `"code":"not_found"`},
		"another version path": {"GET", strings.Replace(at, "v1", "v2", 1), upgrade, 404, `"code":"not_found"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := graphtest.Got(http.NewRequestWithContext(context.Background(), c.method, c.url, nil))(t)
			request.Header.Set("Authorization", "Bearer "+agent.Token)
			for name, value := range c.header {
				request.Header.Set(name, value)
			}
			response, err := http.DefaultTransport.RoundTrip(request)
			require.NoError(t, err)
			defer response.Body.Close()
			var body strings.Builder
			require.NoError(t, response.Write(&body))
			require.Equal(t, c.status, response.StatusCode, body.String())
			require.Contains(t, body.String(), c.body)
			if c.status == http.StatusUpgradeRequired {
				require.Equal(t, "websocket", response.Header.Get("Upgrade"))
			}
		})
	}
	require.Zero(t, h.Count("SELECT count(*) FROM socket_leases"))

	header := bearer(agent.Token)
	header.Set("X-Request-Id", "abc")
	conn, response, err := websocket.DefaultDialer.Dial(p.url, header)
	require.NoError(t, err)
	require.NoError(t, errors.Join(conn.Close(), response.Body.Close()))
	require.Equal(t, []string{"abc"}, response.Header["X-Request-Id"])
	require.Empty(t, response.Header.Get("Sec-WebSocket-Extensions"), "nothing is compressed")
}

// HTTP/1.0 does not support upgrades.
func TestHandshakeOverHTTP10(t *testing.T) {
	t.Parallel()
	h, p := sharedCluster(t).withProcess()
	conn, err := net.Dial("tcp", hostOf(t, p.url))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET /ws/v1/events/ HTTP/1.0\r\nHost: stoa\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer %s\r\n\r\n", h.Agent().Token)
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusUpgradeRequired, response.StatusCode)
}

func TestVersionsAreNegotiated(t *testing.T) {
	t.Parallel()
	h, p := sharedCluster(t).withProcess()
	for _, c := range []struct {
		offered      []string
		named, query string // query is the parameter of polls and streams
		latest       bool
	}{
		{nil, "", "", false},
		{[]string{"stoa.events.v1"}, "stoa.events.v1", "version=1", false},
		{[]string{"stoa.events.v2"}, "stoa.events.v2", "version=2", true},
		{[]string{"stoa.events.v1", "stoa.events.v2"}, "stoa.events.v2", "version=2", true},
		{[]string{"something.else"}, "", "", false},
	} {
		agent := h.Agent()
		// More than a window of events unknown to the first version must not delay the known ones.
		hidden := make([]events.Event, events.WindowSize+10)
		for i := range hidden {
			hidden[i] = events.Event{Recipient: agent.ID, Kind: events.ProfileRecommendations, Payload: events.RecommendationsPayload{BotID: agent.ID, Revision: i}}
		}
		if !c.latest {
			p.tellEvents(hidden...)
		}
		p.tell(agent, 7)
		p.tellEvents(hidden[0])
		conn, stream := p.dial(agent.Token, c.offered...), p.stream(agent.Token, "?"+c.query, "")
		require.Equal(t, c.named, conn.Subprotocol())
		conn.gets(7)
		stream.gets(7)
		found := p.poll(agent.Token, c.query).page(t)
		require.Equal(t, "order.changed", found.Events[0].Kind)
		if c.latest {
			told := conn.event(events.ProfileRecommendations)
			require.Equal(t, map[string]any{"bot_id": agent.ID.String(), "revision": 0.0}, told.Payload)
			require.Equal(t, told, stream.next())
			require.Equal(t, told.EventID, found.ids()[1])
		} else {
			require.Len(t, found.Events, 1)
		}
		conn.quiet()
	}
}

// hostOf returns the host and port of an address.
func hostOf(t *testing.T, address string) string {
	t.Helper()
	return graphtest.Got(url.Parse(address))(t).Host
}
