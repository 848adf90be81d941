package webhooks_test

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/webhooks"
)

// names is a DNS server on the loopback that gives every name the same addresses, which may change from one question to the next.
type names struct {
	addresses atomic.Pointer[[]netip.Addr]
	asked     atomic.Int64
}

// resolver starts the server and returns a resolver that asks only this server.
func (n *names) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn := graphtest.Got(net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0"))))(t)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		for buffer := make([]byte, 512); ; {
			size, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			n.asked.Add(1)
			if answer, err := n.answer(buffer[:size]); err == nil {
				_, _ = conn.WriteToUDPAddrPort(answer, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (n *names) set(addresses ...netip.Addr) { n.addresses.Store(&addresses) }

func (n *names) answer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Response, m.Additionals = true, nil
	header := dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Type: m.Questions[0].Type, Class: dnsmessage.ClassINET}
	for _, address := range *n.addresses.Load() {
		switch {
		case header.Type == dnsmessage.TypeA && address.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: address.As4()}})
		case header.Type == dnsmessage.TypeAAAA && address.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}})
		}
	}
	return m.Pack()
}

// private are addresses that no webhook may lead to.
var private = []string{
	"127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.2.1", "198.18.0.1",
	"224.0.0.1", "240.0.0.1", "255.255.255.255", "::1", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "fc00::1", "fd12::1",
	"fe80::1", "ff02::1", "2001:db8::1", "2002:7f00:1::1",
}

// Whatever a name resolves to, nothing connects to an address outside the public internet, also if an operator allows the
// loopback by its name.
func TestPrivateAddressesAreNotReached(t *testing.T) {
	t.Parallel()
	inside := newSecureEndpoint(t)
	for _, loopback := range []bool{false, true} {
		var dns names
		w := newWorldWith(t, webhooks.SenderConfig{AllowLoopback: loopback, Resolver: dns.resolver(t), Roots: inside.roots, Timeout: impatient})
		agent := w.Agent()
		name := w.hook(agent, "https://agent.example:"+inside.port+"/hook")
		reasons := func() []string {
			var all []string
			for _, d := range w.deliveries(agent, name.ID) {
				all = append(all, *d.Error)
			}
			return all
		}
		for i, text := range private {
			dns.set(netip.MustParseAddr(text))
			graphtest.OK(t)(w.Webhooks.TestWebhook(agent.Ctx, webhooks.Input{WebhookID: name.ID.String()}))
			w.DeliverWebhooks()
			require.Len(t, reasons(), i+1, text)
			require.Equal(t, "forbidden_address", reasons()[0], "%s, loopback %v", text, loopback)
		}
		dns.set()
		graphtest.OK(t)(w.Webhooks.TestWebhook(agent.Ctx, webhooks.Input{WebhookID: name.ID.String()}))
		w.DeliverWebhooks()
		require.Equal(t, "forbidden_address", reasons()[0], "a name that leads nowhere cannot be told from one that leads inside")
		require.Equal(t, "forbidden_address", w.card(agent, name.ID).LastFailure.Error)
	}
	require.Empty(t, inside.take())
}

// An address in the URL is checked when the connection is made, like the resolved address of a name.
func TestPrivateAddressesInURLs(t *testing.T) {
	t.Parallel()
	inside := newSecureEndpoint(t)
	w := newWorldWith(t, webhooks.SenderConfig{Roots: inside.roots, Timeout: impatient})
	agent := w.Agent()
	hook := w.hook(agent, "https://agent.example/")
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
		"169.254.169.254", "10.0.0.1", "[fe80::1%25lo]", "0",
	} {
		_, err := w.change(agent, hook.ID, webhooks.UpdateInput{URL: graphtest.Ptr("https://" + host + ":" + inside.port + "/")})
		if err != nil {
			graphtest.RequireFault(t, err, fault.InvalidInput)
			continue
		}
		graphtest.OK(t)(w.Webhooks.TestWebhook(agent.Ctx, webhooks.Input{WebhookID: hook.ID.String()}))
		w.DeliverWebhooks()
		require.Equal(t, "forbidden_address", *w.deliveries(agent, hook.ID)[0].Error, host)
	}
	require.Empty(t, inside.take())
}

// A name resolves to a public address when the webhook is made and at the first attempt, then to the loopback, or to both: the
// sender connects only to the address that it has checked.
func TestRebindingDoesNotHelp(t *testing.T) {
	t.Parallel()
	inside := newSecureEndpoint(t)
	var dns names
	w := newWorldWith(t, webhooks.SenderConfig{AllowLoopback: true, Resolver: dns.resolver(t), Roots: inside.roots, Timeout: impatient})
	agent := w.Agent()
	public, loopback := netip.MustParseAddr("2600::1"), netip.MustParseAddr("127.0.0.1")
	dns.set(public)
	hook := w.hook(agent, "https://agent.example:"+inside.port+"/")
	require.Zero(t, dns.asked.Load(), "a name is not asked for before something is sent")
	w.tell(agent)
	w.DeliverWebhooks()
	require.Contains(t, []string{"timeout", "no_answer"}, *w.deliveries(agent, hook.ID)[0].Error)
	dns.set(loopback)
	w.Shift(waits[0])
	w.DeliverWebhooks()
	require.Equal(t, "forbidden_address", *w.deliveries(agent, hook.ID)[0].Error)
	dns.set(public, loopback)
	w.Shift(waits[1])
	w.DeliverWebhooks()
	require.Len(t, w.deliveries(agent, hook.ID), 3)
	require.Empty(t, inside.take())
	require.Len(t, w.queue(agent), 1)
}

// If the operator allows the loopback, it is reached by its name, also over https; the certificate must still be valid.
func TestTheAllowedLoopback(t *testing.T) {
	t.Parallel()
	inside := newSecureEndpoint(t)
	trusting := newWorldWith(t, webhooks.SenderConfig{AllowLoopback: true, Roots: inside.roots})
	agent := trusting.Agent()
	trusting.hook(agent, "https://127.0.0.1:"+inside.port+"/")
	trusting.tell(agent)
	trusting.DeliverWebhooks()
	require.Len(t, inside.take(), 1)

	strict := newWorld(t)
	agent = strict.Agent()
	hook := strict.hook(agent, "https://127.0.0.1:"+inside.port+"/")
	strict.tell(agent)
	strict.DeliverWebhooks()
	require.Equal(t, "tls", *strict.deliveries(agent, hook.ID)[0].Error)
	require.Empty(t, inside.take())
}

// An address that was allowed when the webhook was made is no longer reached once the operator's rule is stricter.
func TestAStricterOperator(t *testing.T) {
	t.Parallel()
	w, e, agent := newReceiver(t, nil)
	hook := w.hook(agent, e.URL)
	w.tell(agent)
	w.Webhooks.Sender = webhooks.NewSender(webhooks.SenderConfig{})
	require.Empty(t, w.delivered(e))
	require.Equal(t, "forbidden_address", *w.deliveries(agent, hook.ID)[0].Error)
}

// secureEndpoint is an endpoint with TLS, and the roots by which clients trust it.
type secureEndpoint struct {
	*endpoint
	port  string
	roots *x509.CertPool
}

func newSecureEndpoint(t *testing.T) *secureEndpoint {
	t.Helper()
	e := &endpoint{answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }}
	e.Server = httptest.NewTLSServer(e)
	t.Cleanup(e.Close)
	roots := x509.NewCertPool()
	roots.AddCert(e.Certificate())
	_, port, err := net.SplitHostPort(e.Listener.Addr().String())
	require.NoError(t, err)
	return &secureEndpoint{e, port, roots}
}
